import type { Clock } from "../ports.ts";

/** Resolves with the promise's value, or with `late()` after `ms`. */
export function withTimeLimit<T>(
  clock: Clock,
  { promise, ms, late }: { readonly promise: Promise<T>; readonly ms: number; readonly late: () => T },
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.timer(ms, () => resolve(late()), { keepsAlive: true });
    promise.then(resolve, reject).finally(cancel);
  });
}

/** A wake-up signal that is not lost if it rings before anyone waits. */
export function makeWakeSignal(): { readonly ring: () => void; readonly heard: () => Promise<void> } {
  let rung = false;
  let listener: (() => void) | undefined;
  return {
    ring: () => {
      rung = true;
      listener?.();
    },
    heard: async () => {
      if (!rung) {
        await new Promise<void>((resolve) => {
          listener = resolve;
        });
      }
      rung = false;
      listener = undefined;
    },
  };
}

/** Calls a listener of the program. One that throws or rejects changes nothing; `failed` gets the error. */
export function callListener(listen: () => unknown, failed: (error: unknown) => void): void {
  try {
    const returned = listen();
    if (returned instanceof Promise) returned.catch(failed);
  } catch (error) {
    failed(error);
  }
}
