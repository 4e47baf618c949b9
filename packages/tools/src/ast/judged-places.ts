import type { PathFact, PathLookup } from "@assent/policy";

export type OpenedPlaces = {
  /** The first path that now leads elsewhere than when it was judged. */
  readonly moved: string | undefined;
  /** Looks up paths; returns the compared facts for the call's own paths, even if the disk changes meanwhile. */
  readonly scope: PathLookup;
  /** True if the call was judged and none of its paths was sensitive. */
  readonly harmless: boolean;
};

/** Remembers where the paths of a call led when it was judged. */
export type JudgedPlaces = {
  /** Called at every judgment; the latest one counts. */
  readonly note: (input: object, paths: readonly string[], cwd: string) => readonly PathFact[];
  readonly open: (input: object, paths: readonly string[], cwd: string) => OpenedPlaces;
};

/** Keyed by the frozen input, so entries go away with the call. A process that did not judge the call compares nothing. */
export function judgedPlaces(scope: PathLookup): JudgedPlaces {
  const known = new WeakMap<object, readonly PathFact[]>();
  return {
    note: (input, paths, cwd) => {
      const facts = paths.map((path) => scope(path, cwd));
      known.set(input, facts);
      return facts;
    },
    open: (input, paths, cwd) => {
      const judged = known.get(input);
      const facts = new Map(paths.map((path) => [path, scope(path, cwd)]));
      return {
        moved: judged && paths.find((path, index) => facts.get(path)?.real !== judged[index]?.real),
        scope: (path, from) => (from === cwd ? facts.get(path) : undefined) ?? scope(path, from),
        harmless: judged?.every(({ sensitive }) => !sensitive) === true,
      };
    },
  };
}
