/** True if a rule forbids reading a file. */
export type Hides = (path: string) => boolean;

/** Counts the files that a call leaves out because a rule hides them. They are never named. */
export type HiddenFiles = {
  /** Returns false for a hidden file and counts it. */
  readonly shows: (path: string) => boolean;
  readonly count: () => number;
};

/** Make one per call. */
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

export function hiddenText(count: number): string {
  return count === 1 ? "1 file is hidden by a rule" : `${count} files are hidden by a rule`;
}
