import type { Clock } from "@assent/core";

/** The longest delay `setTimeout` keeps; a longer one would fire at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * The machine's clock. Timers run on the monotonic clock, so a step of the calendar neither shortens nor lengthens them, and they are unreferenced: alone they
 * keep no process alive. Time limits of calls, approvals and questions do (`keepsAlive`).
 */
export function createSystemClock(): Clock {
  return { now: () => Date.now(), timer: startTimer };
}

function startTimer(ms: number, fire: () => void, { keepsAlive = false }: { readonly keepsAlive?: boolean } = {}): () => void {
  const due = performance.now() + ms;
  let handle: NodeJS.Timeout | undefined;
  const arm = (left: number): void => {
    handle = setTimeout(wake, Math.min(Math.ceil(left), MAX_TIMEOUT_MS));
    if (!keepsAlive) handle.unref();
  };
  // A wake-up may come a fraction of a millisecond early, or halfway through a long wait.
  const wake = (): void => {
    const left = due - performance.now();
    if (left > 0) arm(left);
    else fire();
  };
  arm(ms);
  return () => clearTimeout(handle);
}
