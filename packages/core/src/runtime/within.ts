import type { Clock } from "../ports.ts";

/** The promise's value, or `late()` once `ms` have passed; a rejection in time rejects, a late one is dropped. */
export function withTimeLimit<T>(
  clock: Clock,
  { promise, ms, late }: { readonly promise: Promise<T>; readonly ms: number; readonly late: () => T },
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.timer(ms, () => resolve(late()), { keepsAlive: true });
    promise.then(resolve, reject).finally(cancel);
  });
}
