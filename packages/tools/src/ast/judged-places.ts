import type { PathFact, PathLookup } from "@assent/policy";

/** The paths of a call that may be looked into. */
export type OpenedPlaces = {
  /** The first path that was judged and now leads elsewhere. */
  readonly moved: string | undefined;
  /** Says of the call's paths what was just compared with the judgement, however the disk changes meanwhile. */
  readonly scope: PathLookup;
  /** True when the call was judged and none of its paths held secrets then. */
  readonly harmless: boolean;
};

/** Where the paths of a call led when it was judged. */
export type JudgedPlaces = {
  /** Looks at the paths at every judging; the latest counts. */
  readonly note: (input: object, paths: readonly string[], cwd: string) => readonly PathFact[];
  readonly open: (input: object, paths: readonly string[], cwd: string) => OpenedPlaces;
};

/** Kept by the frozen input itself, so it is forgotten with the call. A process that did not judge the call has nothing to compare. */
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
