import type { StrayWord } from "../effects/stray-words.ts";
import type { DirectoryFate, WriteTarget } from "../effects/write-targets.ts";
import type { Reach } from "../programs/program.ts";
import type { SeenCommand } from "../walk/seen-command.ts";
import type { Command, Plan } from "./plan.ts";

/** The analysis of one shell line, shared by its units. */
export type ShellLine = {
  readonly text: string;
  readonly plan: Plan;
  readonly seen: readonly SeenCommand[];
  /** Empty, or with a NUL or a lone surrogate. */
  readonly malformed: boolean;
  readonly tooLong: boolean;
  readonly limited: boolean;
  readonly parsed: boolean;
  readonly readOnly: boolean;
};

/** One simple command as rules and safeguards see it. A line that could not be parsed has one unit without a command. */
export type ShellUnit = {
  readonly line: ShellLine;
  readonly index: number;
  readonly command?: Command;
  readonly seen?: SeenCommand;
  /** What an allow rule compares: argv without git's harmless global options. Empty if a word is dynamic. */
  readonly words: readonly string[];
  /** Words that a rule with a star does not cover, because they name files outside the workspace or with secrets. */
  readonly strays?: readonly StrayWord[];
  readonly touched?: readonly TouchedPath[];
  readonly script?: { readonly digest: string; readonly text: string };
};

/** A path that a command would change or read whole, in folded spelling. */
export type TouchedPath = {
  readonly path: string;
  readonly use: WriteTarget["use"];
  readonly reach: Reach;
  /** What happens to a directory there; `unsure`: it may not exist yet. */
  readonly fate: DirectoryFate | "unsure";
  /** Every spelling; if only partly known, of the directory it is in. */
  readonly places: readonly string[];
  readonly open?: OpenEnd;
  /** False: the command may run in another directory. */
  readonly certain: boolean;
  readonly lost: boolean;
};

/** The part of a path that only a shell can resolve. */
export type OpenEnd = {
  readonly start: string;
  /** A glob without a leading dot. */
  readonly dotless: boolean;
  readonly names: readonly string[];
  /** The entries of the directory, if the next name is a pattern without a leading dot. */
  readonly there?: readonly string[];
};
