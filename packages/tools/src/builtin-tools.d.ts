import type { Files, Processes, Tool } from "@assent/core";
import { type SessionDirectories } from "@assent/policy";
import { type Reads } from "./reads.ts";
/** What the built-in tools of one session need. Nothing is opened or started by making them. */
export type BuiltinDeps = SessionDirectories & {
  readonly files: Files;
  readonly processes: Processes;
  /** The environment commands start from, without secrets of any known name. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Name globs of further secrets. */
  readonly secretEnv?: readonly string[];
  /** What the session has read before; a new, empty memory when absent. */
  readonly reads?: Reads;
};
/** The built-in tools, in the order in which they are offered. */
export declare function builtinTools(deps: BuiltinDeps): readonly Tool[];
