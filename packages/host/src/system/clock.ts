import type { Clock } from "@assent/core";

/** The longest delay `setTimeout` supports. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** The machine's clock with monotonic timers, which keep the process alive only with `keepsAlive`. */
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
  // Timers may fire slightly early, and long waits are split.
  const wake = (): void => {
    const left = due - performance.now();
    if (left > 0) arm(left);
    else fire();
  };
  arm(ms);
  return () => clearTimeout(handle);
}
