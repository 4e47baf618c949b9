/** A place in a pattern. */
export type Cursor = { readonly text: string; at: number };

/** How a part of a pattern is read. */
export type PatternReading = {
  readonly cursor: Cursor;
  readonly multiline: boolean;
  readonly modes: { readonly ignoreCase: boolean; readonly dotAll: boolean };
  /** Whether the whole expression ignores case; a part that does otherwise says so. */
  readonly flag: boolean;
  readonly depth: number;
};

/** A pattern that cannot be used, and from which character on, if that is known. */
export class PatternError extends Error {
  constructor(problem: string, at?: number) {
    super(at === undefined ? problem : `${problem} (character ${at + 1})`);
    this.name = "PatternError";
  }
}
