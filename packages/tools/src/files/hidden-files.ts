/** Whether a rule forbids to read a file, whatever tool would show it. */
export type Hides = (path: string) => boolean;

/** What a call leaves out because a rule hides it: counted, never named. */
export type HiddenFiles = {
  /** Counts the file where it is hidden. */
  readonly shows: (path: string) => boolean;
  readonly count: () => number;
};

/** One for each call. */
export function hiddenFileFilter(hides: Hides | undefined): HiddenFiles {
  let count = 0;
  return {
    shows: (path) => {
      if (!hides?.(path)) return true;
      count++;
      return false;
    },
    count: () => count,
  };
}

/** What the model is told of what was left out. */
export function hiddenText(count: number): string {
  return count === 1 ? "1 file is hidden by a rule" : `${count} files are hidden by a rule`;
}
