import type { TaskProcess, TaskStatus } from "./model/task/events.ts";

/** How a background command ended, as its notice reports it. */
export type BackgroundEnd = {
  readonly status: TaskStatus;
  readonly result: string;
  /** Without the prefix "Error:". */
  readonly error: string | null;
  /** It ended before it was done. */
  readonly partial: boolean;
};

/** What a background command receives from its runner. */
export type BackgroundLife = {
  /** Aborts when the command must end. */
  readonly signal: AbortSignal;
  /** Every process must await this before it begins, and must not begin if it rejects. */
  readonly started: (process: TaskProcess, outputFile: string) => Promise<void>;
};

/** A command that keeps running after its call has ended. */
export type BackgroundCommand = {
  readonly sessionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly command: string;
  readonly description: string;
  /** The end of its output so far. */
  readonly output: () => string;
  readonly run: (life: BackgroundLife) => Promise<BackgroundEnd>;
};

/** Runs commands that outlive their calls, ends them with the session, and reports their end. */
export type BackgroundCommands = {
  /**
   * Resolves with the task's id once the command's first process is recorded, or undefined if it ended before that.
   * Rejects if `run` rejects by then, or if nothing can be started.
   */
  readonly start: (command: BackgroundCommand, signal: AbortSignal) => Promise<string | undefined>;
};
