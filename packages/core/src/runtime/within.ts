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
