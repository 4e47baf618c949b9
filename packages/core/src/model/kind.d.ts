/** Every category a tool may declare; it drives modes, lanes and hints. */
export declare const KINDS: readonly ["read", "search", "fetch", "edit", "delete", "move", "execute", "think", "other"];
/** One of `KINDS`. */
export type Kind = (typeof KINDS)[number];
/** Kinds whose calls change the world. */
export declare const MUTATOR_KINDS: readonly Kind[];
/** Kinds whose calls may run beside each other. `think` is not one: it may write notes. */
export declare const CONCURRENCY_SAFE_KINDS: readonly Kind[];
