import type { RunEnd } from "../loop/conversation-state.ts";

/** Turns that delivered notices and did not end with `done`. */
export class NoticeRunError extends Error {
  readonly end: RunEnd;
  constructor(end: RunEnd) {
    super(end.error?.message ?? `The turn of a notice ended: ${end.reason}.`);
    this.name = "NoticeRunError";
    this.end = end;
  }
}

/** Lets others wait for the next notification without polling. */
export type Wakeup = { readonly notify: () => void; readonly next: () => Promise<void> };

export function createWakeup(): Wakeup {
  let waiting = Promise.withResolvers<void>();
  return {
    notify: () => {
      waiting.resolve();
      waiting = Promise.withResolvers<void>();
    },
    next: () => waiting.promise,
  };
}

export type SettleDeps = {
  readonly hasNotice: () => boolean;
  readonly tasks: { readonly running: () => number; readonly idle: () => Promise<void> };
  readonly schedules: { readonly holds: () => boolean };
  readonly wakeup: Wakeup;
  /** Without it, notices stay queued. */
  readonly drain: (() => Promise<RunEnd | undefined>) | undefined;
};

/** Waits until nothing runs in the background and every notice is delivered. Resolves with undefined if there was nothing. */
export async function settle(deps: SettleDeps, signal: AbortSignal): Promise<RunEnd | undefined> {
  const { hasNotice, tasks, schedules, wakeup, drain } = deps;
  const { promise: aborted, resolve: abort } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => abort(), { once: true });
  let last: RunEnd | undefined;
  try {
    while (!signal.aborted) {
      const running = tasks.running() > 0;
      if (drain && hasNotice()) last = (await drain()) ?? last;
      else if (running || (drain && schedules.holds())) await Promise.race([wakeup.next(), aborted, ...(running ? [tasks.idle()] : [])]);
      else return last;
    }
    return { reason: "cancelled", text: "" };
  } catch (error) {
    if (error instanceof NoticeRunError) return error.end;
    throw error;
  }
}
