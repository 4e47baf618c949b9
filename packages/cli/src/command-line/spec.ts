import type { Client } from "../headless/clients/options.ts";
import type { Io } from "../io/io.ts";
import type { Overrides } from "../overrides.ts";

/** One option of a command: what it takes, and one line of help. */
export type OptionSpec = { readonly name: string; readonly says: string } & (
  | { readonly takes: "nothing" }
  /** `list` may be repeated; `count` is an integer from 1 to `max`. */
  | { readonly takes: "text" | "list" | "duration"; readonly value: string }
  | { readonly takes: "count"; readonly value: string; readonly max: number }
  | { readonly takes: "choice"; readonly choices: readonly string[] }
);

/** A word without dashes after the command's name. Only the last operand of a command may repeat. */
export type OperandSpec = {
  readonly name: string;
  readonly required: boolean;
  readonly choices?: readonly string[];
  readonly repeats?: true;
  /** The command that lists what can stand here. */
  readonly listedBy?: string;
};

/** The options of one command line, already checked against the table. */
export type Options = {
  readonly flag: (name: string) => boolean;
  readonly text: (name: string) => string | undefined;
  readonly list: (name: string) => readonly string[];
  readonly count: (name: string) => number | undefined;
  /** Milliseconds. */
  readonly duration: (name: string) => number | undefined;
};

/** What a command is given. */
export type Context = {
  readonly io: Io;
  readonly options: Options;
  readonly operands: readonly string[];
  readonly overrides: Overrides;
  /** The table this command stands in. */
  readonly commands: readonly CommandSpec[];
  /** The client of another vendor that started this program in place of its own; absent: there is none. */
  readonly client?: Client | undefined;
  /** Runs another command line of this program, in another place. */
  readonly main: (argv: readonly string[], io: Io) => Promise<number>;
};

/** Runs a command to its exit code; it throws what it cannot do. */
export type RunCommand = (context: Context) => Promise<number>;

/** One row of the table that drives parsing, help and completions. */
export type CommandSpec = {
  /** One word, or two for a command below another. */
  readonly name: string;
  readonly group: "run" | "decide" | "look" | "maintain" | "help";
  /** It writes no record and answers nothing, so tools may run it; absent: they may not. */
  readonly looks?: true;
  /** It decides for a person, so a process that a session's own command started may not run it. Options that loosen are in `own-process.ts`. */
  readonly decides?: true;
  readonly says: string;
  readonly more?: string;
  readonly operands: readonly OperandSpec[];
  readonly options: readonly OptionSpec[];
  readonly exits?: Readonly<Record<number, string>>;
  readonly examples: readonly string[];
  /** Loads the code only when the command runs, so that the light ones stay light. */
  readonly load: () => Promise<{ readonly run: RunCommand }>;
};
