import type { PathFact } from "@assent/policy";

/** As much of a path as has to be the same when the call runs. */
type Judged = Pick<PathFact, "real" | "anchor">;

/** Where a call's path led when the call was judged. */
export type JudgedPaths = {
  /** Told at every judging; the latest counts. */
  readonly note: (input: object, judged: Judged) => void;
  /** True when the path was judged and now leads elsewhere. */
  readonly changed: (input: object, real: string | null) => boolean;
  readonly place: (input: object) => string | undefined;
  /** The directory in which it was judged, if it was. */
  readonly anchor: (input: object) => Judged["anchor"] | undefined;
};

/** Kept by the frozen input itself, so it is forgotten with the call. A process that did not judge the call has nothing to compare. */
export function judgedPaths(): JudgedPaths {
  const known = new WeakMap<object, Judged>();
  return {
    note: (input, { real, anchor }) => known.set(input, { real, anchor }),
    place: (input) => known.get(input)?.real ?? undefined,
    anchor: (input) => known.get(input)?.anchor,
    changed: (input, real) => known.has(input) && known.get(input)?.real !== real,
  };
}
