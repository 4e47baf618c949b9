/** Which lines are wanted, and how much of them. */
export type WindowLimits = {
  readonly offset: number;
  readonly limit: number;
  readonly lineChars: number;
  readonly totalChars: number;
};
/** The wanted lines, numbered. */
export type Window = {
  readonly lines: readonly string[];
  /** The last line that is given; below `offset` when none is. */
  readonly last: number;
  /** Lines of the whole text. */
  readonly total: number;
};
/** Takes a text in pieces and keeps only the wanted lines, so that a line of any length costs no more memory than what is shown of it. */
export type LineWindow = {
  readonly add: (text: string) => void;
  readonly end: () => Window;
};
/** A window on the lines of a text. A carriage return before a line break is not shown. */
export declare function lineWindow({ offset, limit, lineChars, totalChars }: WindowLimits): LineWindow;
