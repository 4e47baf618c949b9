import { statSync } from "node:fs";
import type { DirectoryAnchor, PathFact } from "@assent/policy";

/** As much of a path as has to be the same when the call runs. */
type JudgedFact = Pick<PathFact, "real" | "anchor" | "sensitive">;
type KnownPath = { readonly real: string | null; readonly anchor: DirectoryAnchor | null; readonly sensitive: boolean };

/** Where a call's path led when the call was judged. */
export type JudgedPaths = {
  /** Told at every judging; the latest counts. */
  readonly note: (input: object, judged: JudgedFact) => void;
  /** True when the path was judged and now leads elsewhere. */
  readonly changed: (input: object, real: string | null) => boolean;
  /** True when the path was judged and the directory it led to is another one by now, though of the same name. */
  readonly exchanged: (input: object) => boolean;
  /** True if the judged file held no secrets. */
  readonly harmless: (input: object) => boolean;
  readonly place: (input: object) => string | undefined;
};

/** Kept by the frozen input itself, so it is forgotten with the call. A process that did not judge the call has nothing to compare. */
export function judgedPaths(): JudgedPaths {
  const known = new WeakMap<object, KnownPath>();
  return {
    note: (input, { real, anchor, sensitive }) => known.set(input, { real, anchor: anchor(), sensitive }),
    harmless: (input) => known.get(input)?.sensitive === false,
    place: (input) => known.get(input)?.real ?? undefined,
    changed: (input, real) => known.has(input) && known.get(input)?.real !== real,
    exchanged: (input) => !isSameFile(known.get(input)?.anchor ?? null),
  };
}

function isSameFile(anchor: DirectoryAnchor | null): boolean {
  if (anchor === null) return true;
  try {
    const stats = statSync(anchor.path, { bigint: true, throwIfNoEntry: false });
    return stats !== undefined && String(stats.dev) === anchor.device && String(stats.ino) === anchor.inode;
  } catch {
    return false; // it can no longer be looked at, so nobody can tell
  }
}
