/** The JSON pointer of a place, from the keys that lead to it; "" is the whole. */
export declare function jsonPointer(keys: readonly PropertyKey[]): string;
/** One step of a JSON pointer. */
export declare function pointerStep(key: PropertyKey): string;
