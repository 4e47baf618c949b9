/** Where a call's path led when the call was judged. */
export type JudgedPaths = {
  /** Told at every judging; the latest counts. */
  readonly note: (input: object, real: string | null) => void;
  /** True when the path was judged and now leads elsewhere. */
  readonly changed: (input: object, real: string | null) => boolean;
  readonly place: (input: object) => string | undefined;
};

/** Kept by the frozen input itself, so it is forgotten with the call. A process that did not judge the call has nothing to compare. */
export function judgedPaths(): JudgedPaths {
  const known = new WeakMap<object, string | null>();
  return {
    note: (input, real) => known.set(input, real),
    place: (input) => known.get(input) ?? undefined,
    changed: (input, real) => known.has(input) && known.get(input) !== real,
  };
}
