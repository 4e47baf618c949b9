import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import type { ProcessEnd, ProcessSpec } from "@assent/core";
import type { ProcessTable } from "./process-table.ts";
/** One started program and everything its end depends on. */
export type Attended = {
  readonly spec: ProcessSpec;
  readonly signal: AbortSignal;
  readonly settings: {
    readonly graceMs: number;
    readonly lingerMs: number;
    readonly heldBytes: number;
    readonly table: ProcessTable;
  };
  readonly child: ChildProcess;
  readonly pid: number;
  readonly readers: () => readonly Readable[];
};
/**
 * Follows a program to its end, which is the first of: it exits, its time is over, it is cancelled.
 * After an exit its output is read to the end, or for `lingerMs` if somebody it started holds the pipe. After a stop the whole group is ended first.
 */
export declare function attend(program: Attended): Promise<ProcessEnd>;
