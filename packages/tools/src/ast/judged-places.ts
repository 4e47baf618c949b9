import type { PathScope } from "@assent/policy";

/** Where the paths of a call led when it was judged. */
export type JudgedPlaces = {
  /** Told at every judging; the latest counts. */
  readonly note: (input: object, paths: readonly string[], cwd: string) => void;
  /** The first path that was judged and now leads elsewhere. */
  readonly moved: (input: object, paths: readonly string[], cwd: string) => string | undefined;
};

/** Kept by the frozen input itself, so it is forgotten with the call. A process that did not judge the call has nothing to compare. */
export function judgedPlaces(scope: PathScope): JudgedPlaces {
  const known = new WeakMap<object, readonly (string | null)[]>();
  return {
    note: (input, paths, cwd) =>
      known.set(
        input,
        paths.map((path) => scope(path, cwd).real),
      ),
    moved: (input, paths, cwd) => {
      const places = known.get(input);
      return places && paths.find((path, index) => scope(path, cwd).real !== places[index]);
    },
  };
}
