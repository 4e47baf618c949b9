/** What is wrong with a rule text, and where. */
export type PatternProblem = {
  readonly text: string;
  readonly problem: string;
  /** From 1, in UTF-16 units of `text`. */
  readonly column: number;
  readonly file?: string;
  readonly line?: number;
};

/** A rule text that does not parse; the message names file, line and text. */
export class PatternError extends Error {
  readonly about: PatternProblem;
  constructor(about: PatternProblem) {
    const place = [about.file, about.line].filter((part) => part !== undefined).join(":");
    super(`${place}${place && ": "}${about.problem} at column ${about.column} of '${about.text}'`);
    this.name = "PatternError";
    this.about = about;
  }
}
