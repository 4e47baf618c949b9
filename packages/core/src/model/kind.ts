/** The categories of tools. */
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

/** Kinds whose calls may run concurrently; `think` may write notes. */
export const CONCURRENCY_SAFE_KINDS: readonly Kind[] = Object.freeze(["read", "search", "fetch"] as const);
