import type { Ledger } from "@assent/core";
import type { Client } from "../headless/clients/options.ts";
import type { Io } from "../io/io.ts";
import type { Attendance } from "../notify/attendance.ts";
import type { Overrides } from "../overrides.ts";

export type OptionSpec = { readonly name: string; readonly help: string } & (
  | { readonly takes: "nothing" }
  /** `list` may be repeated; `count` is an integer from 1 to `max`. */
  | { readonly takes: "text" | "list" | "duration"; readonly value: string }
  | { readonly takes: "count"; readonly value: string; readonly max: number }
  | { readonly takes: "choice"; readonly choices: readonly string[] }
);

/** Only the last positional argument may repeat. */
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

/** A store opened before the command; the first `withStore` for its directory takes it over. */
export type EarlyStore = { readonly directory: string; ledger: Ledger | undefined };

export type Context = {
  readonly io: Io;
  readonly options: Options;
  readonly operands: readonly string[];
  readonly overrides: Overrides;
  /** Where a person or host is asked in this process. */
  readonly attendance: Attendance;
  readonly commands: readonly Command[];
  /** Another vendor's client that started this program. */
  readonly client?: Client | undefined;
  readonly earlyStore?: EarlyStore | undefined;
  /** The command streams the audit record while it works; `aloud`: it may print what goes wrong at any time. */
  readonly streams?: Command["streams"];
  /** A worker continues a session, and hands it back when it stops. */
  readonly worker?: true;
  readonly main: (argv: readonly string[], io: Io) => Promise<number>;
};

export type Command = {
  readonly name: string;
  readonly group: "run" | "decide" | "look" | "maintain" | "help";
  /** Only reads, so tools may run it. */
  readonly looks?: true;
  /** Decides for a person, so processes started by a session may not run it. */
  readonly decides?: true;
  /** Streams the audit record in the background; `aloud`: its terminal is free for warnings. */
  readonly streams?: "aloud" | "quietly";
  readonly summary: string;
  readonly details?: string;
  /** Its page in docs/. */
  readonly guide?: string;
  readonly operands: readonly OperandSpec[];
  /** The positional arguments contain `--` where it was written. */
  readonly keepsDashes?: true;
  readonly options: readonly OptionSpec[];
  readonly exits?: Readonly<Record<number, string>>;
  readonly examples: readonly string[];
  /** Returns the exit code. Imports what it needs itself, because every start loads all command files. */
  readonly run: (context: Context) => Promise<number>;
};
