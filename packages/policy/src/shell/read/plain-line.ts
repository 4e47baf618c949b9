import type { Hazard } from "../plan/plan.ts";

/** How a plain command is joined to the one before it; a newline counts as `;`. */
export type Join = "start" | "&&" | "||" | ";" | "|";

/** A word after quote removal. `glob`: it holds a bare `*` or `?` that has to be expanded while judging. */
export type PlainWord = { readonly text: string; readonly glob: boolean };

/** The only redirections the plain subset has. */
export type PlainRedirection = "2>&1" | "1>&2" | ">/dev/null" | "2>/dev/null" | "</dev/null";

/** One command of the plain subset. */
export type PlainCommand = {
  readonly join: Join;
  readonly words: readonly [PlainWord, ...PlainWord[]];
  /** In the order written: `>/dev/null 2>&1` is not `2>&1 >/dev/null`. */
  readonly redirections: readonly PlainRedirection[];
  readonly at: readonly [start: number, end: number];
};

/** What the strict reader makes of a text: commands, or the first thing it does not read. */
export type PlainReading = { readonly commands: readonly PlainCommand[] } | { readonly refused: Hazard };
