import { type Clock, ParkRequest } from "@assent/core";
import { killRunningGroups } from "@assent/host";
import type { EndingSignal, Io } from "./io.ts";

/** A signal that aborts when the process must stop. Its reason is a `ParkRequest` if approvals and questions must stay open. */
export type Cancellation = {
  readonly signal: AbortSignal;
  readonly cancel: () => void;
  /** Stops as if the terminal was closed. */
  readonly park: () => void;
  readonly release: () => void;
};

const SAME_MOMENT_MS = 500;

/** True for signals of a closed terminal or a supervisor, which do not cancel approvals. */
export function isParkSignal(signal: EndingSignal): boolean {
  return signal === "SIGHUP" || signal === "SIGTERM";
}

/**
 * The first signal lets everything be recorded; a later one ends the process at once. SIGINT and SIGQUIT cancel. SIGHUP and SIGTERM
 * cancel running work but keep approvals open.
 */
export function cancelOnSignal(io: Io, clock: Clock): Cancellation {
  const controller = new AbortController();
  let first: number | undefined;
  const park = (): void => controller.abort(new ParkRequest());
  const release = io.onSignal((received) => {
    if (first === undefined) {
      first = clock.now();
      if (isParkSignal(received)) park();
      else controller.abort();
    } else if (Math.abs(clock.now() - first) >= SAME_MOMENT_MS) {
      killRunningGroups(); // processes that ignored the first signal would be left behind
      io.exitNow(130);
    }
  });
  return { signal: controller.signal, cancel: () => controller.abort(), park, release };
}
