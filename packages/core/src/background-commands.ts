import type { TaskProcess, TaskStatus } from "./model/task/events.ts";

/** How a background command ended, as its notice tells it. */
export type BackgroundEnd = {
  readonly status: TaskStatus;
  readonly result: string;
  /** What went wrong, without "Error:". */
  readonly error: string | null;
  /** It was ended before it was done. */
  readonly partial: boolean;
};

/** What the keeper of a background command gives it. */
export type BackgroundLife = {
  /** Aborted: it is to end. */
  readonly signal: AbortSignal;
  /** To be awaited before a process of it begins, by every one. Rejects: it must not begin. */
  readonly started: (process: TaskProcess, outputFile: string) => Promise<void>;
};

/** A command that is to go on after its call has ended. */
export type BackgroundCommand = {
  readonly sessionId: string;
  readonly callId: string;
  /** The tool that runs it. */
  readonly tool: string;
  readonly command: string;
  readonly description: string;
  /** The end of what it has written so far. */
  readonly output: () => string;
  readonly run: (life: BackgroundLife) => Promise<BackgroundEnd>;
};

/** Keeps commands that outlive their calls, ends them with the session, and reports their end. */
export type BackgroundCommands = {
  /**
   * Resolves with the task's id when the first process of the command is on record; undefined: it came to its end before there was one. Rejects with what `run`
   * rejected with until then, or with why nothing can be started.
   */
  readonly start: (command: BackgroundCommand, signal: AbortSignal) => Promise<string | undefined>;
};
