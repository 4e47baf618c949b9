import { type ChildProcess } from "node:child_process";
import type { ProcessSpec } from "@assent/core";
/** A child with its pid: it has been started. */
export type Started = {
  readonly child: ChildProcess;
  readonly pid: number;
};
/** Descriptors 1 and 2 of a child: a pipe's end, or Node's own pair of sockets. */
export type OutputTarget = number | "pipe";
/** Starts a program in a session and process group of its own, with nothing on standard input. Rejects when the system refuses. */
export declare function startProgram(spec: ProcessSpec, target: OutputTarget): Promise<Started>;
