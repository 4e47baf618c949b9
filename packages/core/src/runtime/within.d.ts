import type { Clock } from "../ports.ts";
/** The promise's value, or `late()` once `ms` have passed; a rejection in time rejects, a late one is dropped. */
export declare function within<T>(
  clock: Clock,
  {
    promise,
    ms,
    late,
  }: {
    readonly promise: Promise<T>;
    readonly ms: number;
    readonly late: () => T;
  },
): Promise<T>;
