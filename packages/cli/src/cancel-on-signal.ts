import type { Clock } from "@assent/core";
import { killRunningGroups } from "@assent/host";
import type { Io } from "./io.ts";

/** A signal that aborts when the process is told to stop. */
export type Cancelling = { readonly signal: AbortSignal; readonly cancel: () => void; readonly release: () => void };

/** npm, npx and a terminal may each deliver the same Ctrl-C, so signals this close together count as one. */
const SAME_MOMENT_MS = 500;

/** The first SIGINT or SIGTERM cancels and lets everything be recorded; a second one, later, ends the process at once. */
export function cancelOnSignal(io: Io, clock: Clock): Cancelling {
  const controller = new AbortController();
  let first: number | undefined;
  const release = io.onSignal(() => {
    if (first === undefined) {
      first = clock.now();
      controller.abort();
    } else if (Math.abs(clock.now() - first) >= SAME_MOMENT_MS) {
      killRunningGroups(); // nobody is left to end what does not heed the first one
      io.exitNow(130);
    }
  });
  return { signal: controller.signal, cancel: () => controller.abort(), release };
}
