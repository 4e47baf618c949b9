import { type Clock, type Ledger, ParkRequest } from "@assent/core";
import { killRunningGroups } from "@assent/host";
import type { EndingSignal, Io } from "./io.ts";

/** Aborts when the process must stop. The reason is a `ParkRequest` if approvals must stay open. */
export type Cancellation = {
  readonly signal: AbortSignal;
  readonly cancel: () => void;
  readonly park: () => void;
  readonly release: () => void;
};

const SAME_MOMENT_MS = 500;

/** True for signals of a closed terminal or a supervisor. */
export function isParkSignal(signal: EndingSignal): boolean {
  return signal === "SIGHUP" || signal === "SIGTERM";
}

/** Aborts on the first signal, so that everything is recorded if the ledger is there; a later signal ends the process at once. */
export function cancelOnSignal(io: Io, clock: Clock, ledger?: Ledger): Cancellation {
  const controller = new AbortController();
  let first: number | undefined;
  const park = (): void => controller.abort(new ParkRequest());
  const release = io.onSignal((received) => {
    if (first === undefined) {
      first = clock.now();
      ledger?.leave?.();
      if (isParkSignal(received)) park();
      else controller.abort();
    } else if (Math.abs(clock.now() - first) >= SAME_MOMENT_MS) {
      killRunningGroups(); // processes that ignored the first signal would be left behind
      io.exitNow(130);
    }
  });
  return { signal: controller.signal, cancel: () => controller.abort(), park, release };
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
