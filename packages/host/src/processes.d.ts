import type { Processes } from "@assent/core";
/** What tests and unusual machines may change. */
export type ProcessSettings = {
  /** Between SIGTERM and SIGKILL. */
  readonly graceMs?: number;
  /** How long output is still read after the program's exit, when somebody it started holds the pipe. */
  readonly lingerMs?: number;
  /** Bytes of output held in memory per program. */
  readonly heldBytes?: number;
  readonly temporaryDirectory?: string;
};
/**
 * Programs of this machine. It is the machine, so its waits are in real time. Beside a program that cannot be started, `run` rejects with what `onStart` or `onOutput`
 * threw, after the group was ended: a start that cannot be recorded is no start. Processes that a program left behind in its group when it exited
 * by itself are not killed, but named as survivors.
 */
export declare function hostProcesses(options?: ProcessSettings): Processes;
