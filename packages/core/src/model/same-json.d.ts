/** True when a value says the same as a JSON value: properties that are undefined count as absent, order of keys counts for nothing. */
export declare function sameJson(json: unknown, value: unknown): boolean;
