import type { Ledger } from "@assent/core";
import type { Client } from "../headless/clients/options.ts";
import type { Io } from "../io/io.ts";
import type { Overrides } from "../overrides.ts";

/** One option of a command; the name has no dashes. */
export type OptionSpec = { readonly name: string; readonly help: string } & (
  | { readonly takes: "nothing" }
  /** `list` may be repeated; `count` is an integer from 1 to `max`. */
  | { readonly takes: "text" | "list" | "duration"; readonly value: string }
  | { readonly takes: "count"; readonly value: string; readonly max: number }
  | { readonly takes: "choice"; readonly choices: readonly string[] }
);

/** A positional argument. Only the last one may repeat. */
export type OperandSpec = {
  readonly name: string;
  readonly required: boolean;
  readonly choices?: readonly string[];
  readonly repeats?: true;
  readonly listedBy?: string;
};

export type Options = {
  readonly flag: (name: string) => boolean;
  readonly text: (name: string) => string | undefined;
  readonly list: (name: string) => readonly string[];
  readonly count: (name: string) => number | undefined;
  /** Milliseconds. */
  readonly duration: (name: string) => number | undefined;
};

/** A store opened before the command ran. The first `withStore` for its directory takes the ledger over and closes it. */
export type EarlyStore = { readonly directory: string; ledger: Ledger | undefined };

export type Context = {
  readonly io: Io;
  readonly options: Options;
  readonly operands: readonly string[];
  readonly overrides: Overrides;
  readonly commands: readonly Command[];
  /** The other vendor's client that started this program, if any. */
  readonly client?: Client | undefined;
  readonly earlyStore?: EarlyStore | undefined;
  readonly main: (argv: readonly string[], io: Io) => Promise<number>;
};

/** A command: its table row and the function that runs it. */
export type Command = {
  /** One word, or two for a subcommand. */
  readonly name: string;
  readonly group: "run" | "decide" | "look" | "maintain" | "help";
  /** The command only reads, so tools may run it. */
  readonly looks?: true;
  /** The command decides for a person, so processes started by a session may not run it. Options that loosen are in `own-process.ts`. */
  readonly decides?: true;
  readonly summary: string;
  readonly details?: string;
  /** Its page in docs/. */
  readonly guide?: string;
  readonly operands: readonly OperandSpec[];
  readonly options: readonly OptionSpec[];
  readonly exits?: Readonly<Record<number, string>>;
  readonly examples: readonly string[];
  /** Resolves with the exit code. It imports what it needs when called, because every start loads all command files. */
  readonly run: (context: Context) => Promise<number>;
};
