import type { DirectoryFate, WriteTarget } from "../effects/write-targets.ts";
import type { Reach } from "../programs/program.ts";
import type { SeenCommand } from "../walk/seen-command.ts";
import type { Command, Plan } from "./plan.ts";

/** What the analysis of one shell line found, shared by all its units. */
export type ShellLine = {
  readonly text: string;
  readonly plan: Plan;
  /** Aligned with `plan.commands`. */
  readonly seen: readonly SeenCommand[];
  /** Empty or blank, NUL, a lone surrogate. */
  readonly malformed: boolean;
  /** Beyond the length limit: nothing was parsed. */
  readonly tooLong: boolean;
  /** A limit of nesting or of unwrapped scripts was hit. */
  readonly limited: boolean;
  readonly parsed: boolean;
  /** Every command is of class `read`, without a hazard, and the whole text was understood. */
  readonly readOnly: boolean;
};

/** One simple command of a line as checkers and guards see it. A line without any (too long, malformed, unreadable) has one unit without a command. */
export type ShellUnit = {
  readonly line: ShellLine;
  readonly index: number;
  readonly command?: Command;
  readonly seen?: SeenCommand;
  /** What an allow rule compares: the argv without git's harmless global options. Empty when a word is dynamic. */
  readonly words: readonly string[];
  /** What it would write, by both spellings; without it guards take the paths as they are written. */
  readonly touched?: readonly TouchedPath[];
  /** Digest of the script a package command (`npm test`) would run, and its text. */
  readonly script?: { readonly digest: string; readonly text: string };
};

/** A place that a command would change, or would read whole, in the spelling in which denies compare. */
export type TouchedPath = {
  /** As it was written. */
  readonly path: string;
  readonly use: WriteTarget["use"];
  readonly reach: Reach;
  /** What becomes of a directory at this place; `unsure`: it is filled if it is one by then, else something takes its place. */
  readonly fate: DirectoryFate | "unsure";
  /** Every spelling of the place; of a place known in part only, of the directory it lies in. */
  readonly places: readonly string[];
  /** Known in part only. */
  readonly open?: OpenEnd;
  /** False: the command may run in another directory. */
  readonly certain: boolean;
  /** Nobody can tell where it leads. */
  readonly lost: boolean;
};

/** What is known of a path's end that only a shell can tell. */
export type OpenEnd = {
  /** What the next name begins with. */
  readonly start: string;
  /** A glob does not begin with a dot. */
  readonly dotless: boolean;
  /** All further names as they are written, the next one first; a shell has to read at least that one. */
  readonly names: readonly string[];
  /** What lies in the directory, where the next name is a pattern for some of it. Names with a dot are looked for by few: those are not listed. */
  readonly there?: readonly string[];
};
