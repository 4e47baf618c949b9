import type { RunEnd } from "../loop/conversation-state.ts";

export type TurnOrder = {
  /**
   * Runs when the runs before have ended. A person's message goes before notices. Resolves with undefined if the run is no longer needed or the
   * order is closed.
   */
  readonly run: (run: (signal: AbortSignal) => Promise<RunEnd>, options: RunOptions) => Promise<RunEnd | undefined>;
  readonly isBusy: () => boolean;
  /** Resolves when nothing runs and nothing is queued. */
  readonly whenIdle: () => Promise<void>;
  readonly isClosed: () => boolean;
  /** How the last run ended; `done` before the first. */
  readonly last: () => RunEnd["reason"];
  readonly interrupt: () => void;
  /** Ends the current run with this abort reason, and starts no other. */
  readonly close: (reason?: unknown) => Promise<void>;
};

type RunOptions = {
  readonly signal: AbortSignal;
  /** For notices: called just before the run starts. Absent for a person's message. */
  readonly isNeeded?: () => boolean;
};

type QueuedRun = { readonly isPerson: boolean; readonly start: () => void };

export function createTurnOrder(): TurnOrder {
  const queue: QueuedRun[] = [];
  const idleCallbacks: (() => void)[] = [];
  let current: AbortController | undefined;
  let last: RunEnd["reason"] = "done";
  let isClosed = false;
  const startNext = (): void => {
    const at = queue.findIndex(({ isPerson }) => isPerson);
    const [next] = queue.splice(Math.max(at, 0), 1);
    if (next) next.start();
    else {
      current = undefined;
      for (const callback of idleCallbacks.splice(0)) callback();
    }
  };
  const begin = async (run: (signal: AbortSignal) => Promise<RunEnd>, { signal, isNeeded }: RunOptions): Promise<RunEnd | undefined> => {
    if (isClosed || isNeeded?.() === false) return undefined;
    current = new AbortController();
    const end = await run(AbortSignal.any([signal, current.signal]));
    last = end.reason;
    return end;
  };
  const whenIdle = async (): Promise<void> => {
    if (current) await new Promise<void>((resolve) => idleCallbacks.push(resolve));
  };
  return {
    run: async (run, options) => {
      if (current) await new Promise<void>((start) => queue.push({ isPerson: !options.isNeeded, start }));
      else current = new AbortController(); // set at once, so that no other run starts
      return await begin(run, options).finally(startNext);
    },
    isBusy: () => current !== undefined,
    whenIdle,
    isClosed: () => isClosed,
    last: () => last,
    interrupt: () => current?.abort(),
    close: async (reason) => {
      isClosed = true;
      current?.abort(reason);
      await whenIdle();
    },
  };
}
