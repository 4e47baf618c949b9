/** The deep-frozen JSON copy of a schema; its numbers and texts are kept as they are. Throws for what is not JSON. */
export declare function frozenJson(value: unknown): unknown;
