export type Cursor = { readonly text: string; at: number };

export type PatternReading = {
  readonly cursor: Cursor;
  readonly multiline: boolean;
  readonly modes: { readonly ignoreCase: boolean; readonly dotAll: boolean };
  /** True if the whole expression ignores case. */
  readonly flag: boolean;
  readonly depth: number;
};

/** An unusable pattern, with the position of the problem if known. */
export class PatternError extends Error {
  constructor(problem: string, at?: number) {
    super(at === undefined ? problem : `${problem} (character ${at + 1})`);
    this.name = "PatternError";
  }
}
