import { statSync } from "node:fs";
import type { DirectoryAnchor, PathFact } from "@assent/policy";

type JudgedFact = Pick<PathFact, "real" | "anchor" | "sensitive">;
type KnownPath = { readonly real: string | null; readonly anchor: DirectoryAnchor | null; readonly sensitive: boolean };

/** Remembers where the path of a call led when it was judged. */
export type JudgedPaths = {
  /** Called at every judgment; the latest one counts. */
  readonly note: (input: object, judged: JudgedFact) => void;
  /** True if the judged path now leads elsewhere. */
  readonly changed: (input: object, real: string | null) => boolean;
  /** True if another directory has taken the place of the judged one. */
  readonly exchanged: (input: object) => boolean;
  /** True if the judged file was not sensitive. */
  readonly harmless: (input: object) => boolean;
  readonly place: (input: object) => string | undefined;
};

/** Keyed by the frozen input, so entries go away with the call. A process that did not judge the call compares nothing. */
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
    return false; // no longer accessible
  }
}
