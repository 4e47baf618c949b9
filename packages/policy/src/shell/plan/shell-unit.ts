import type { TouchedPath } from "../effects/touched-paths.ts";
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
