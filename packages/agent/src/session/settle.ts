import type { RunEnd } from "../loop/conversation.ts";
import { DrainFailure } from "./drain-failure.ts";

/** Somebody may wait for the next ring; nobody looks again and again. */
export type Bell = { readonly ring: () => void; readonly rung: () => Promise<void> };

/** A bell that has not been rung. */
export function makeBell(): Bell {
  let waiting = Promise.withResolvers<void>();
  return {
    ring: () => {
      waiting.resolve();
      waiting = Promise.withResolvers<void>();
    },
    rung: () => waiting.promise,
  };
}

/** What there is to wait for. */
export type Settling = {
  /** A notice waits. */
  readonly waits: () => boolean;
  readonly tasks: { readonly running: () => number; readonly idle: () => Promise<void> };
  readonly schedules: { readonly holds: () => boolean };
  readonly bell: Bell;
  /** Absent: notices stay where they are. */
  readonly drain: (() => Promise<RunEnd | undefined>) | undefined;
};

/** Waits until nothing runs in the background and everything is told. Undefined: there was nothing. */
export async function settle(settling: Settling, signal: AbortSignal): Promise<RunEnd | undefined> {
  const { promise: aborted, resolve: abort } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => abort(), { once: true });
  let last: RunEnd | undefined;
  try {
    while (!signal.aborted) {
      const step = nextStep(settling, aborted);
      if (!step) return last;
      last = (await step) ?? last;
    }
    return { reason: "cancelled", text: "" };
  } catch (error) {
    if (error instanceof DrainFailure) return error.end;
    throw error;
  }
}

function nextStep({ waits, tasks, schedules, bell, drain }: Settling, aborted: Promise<void>): Promise<RunEnd | undefined> | undefined {
  if (drain && waits()) return drain();
  const running = tasks.running() > 0;
  if (!running && !(drain && schedules.holds())) return undefined;
  return Promise.race([bell.rung(), aborted, ...(running ? [tasks.idle()] : [])]).then(() => undefined);
}
