/** Every category a tool may declare; it drives modes, lanes and hints. */
export const KINDS: readonly ["read", "search", "fetch", "edit", "delete", "move", "execute", "think", "other"] = Object.freeze([
  "read",
  "search",
  "fetch",
  "edit",
  "delete",
  "move",
  "execute",
  "think",
  "other",
] as const);

/** One of `KINDS`. */
export type Kind = (typeof KINDS)[number];

/** Kinds whose calls change the world. */
export const MUTATOR_KINDS: readonly Kind[] = Object.freeze(["edit", "delete", "move", "execute"] as const);

/** Kinds whose calls may run beside each other. `think` is not one: it may write notes. */
export const CONCURRENCY_SAFE_KINDS: readonly Kind[] = Object.freeze(["read", "search", "fetch"] as const);
