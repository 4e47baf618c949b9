import type { Display } from "../../model/result/result.ts";
import type { BatchRun, CallRun } from "./call-run.ts";

const PER_SECOND = 20;
const GAP_MS = 1_000 / PER_SECOND;

/** The live display of one running call: at most 20 updates a second reach observers, the last one always. */
export function makeUpdates(batch: BatchRun, run: CallRun): { readonly update: (display: Display) => void; readonly end: () => void } {
  const { clock } = batch.deps;
  let newest: Display | undefined;
  let lastAt = Number.NEGATIVE_INFINITY;
  let cancelTimer: (() => void) | undefined;
  let over = false;
  let progress = Number.NEGATIVE_INFINITY;
  const flush = (): void => {
    cancelTimer?.();
    cancelTimer = undefined;
    if (newest === undefined) return;
    const display = newest;
    newest = undefined;
    lastAt = clock.now();
    batch.emit?.({ type: "output", callId: run.callId, agentName: batch.batch.agentName, display });
  };
  return {
    update: (display) => {
      if (over) return;
      if (typeof display === "object" && display.type === "tool_progress") {
        if (!(display.progress > progress)) return;
        progress = display.progress;
      }
      newest = display;
      const wait = lastAt + GAP_MS - clock.now();
      if (wait <= 0) flush();
      else cancelTimer ??= clock.timer(wait, flush);
    },
    end: () => {
      flush();
      over = true;
    },
  };
}
