/** A counter that callers can wait for. */
export type Counter = { add(): void; reach(count: number): Promise<void> };

/** A counter at zero. */
export function createCounter(): Counter {
  let count = 0;
  let waiting: { readonly at: number; readonly resolve: () => void }[] = [];
  return {
    add() {
      count += 1;
      const due = waiting.filter(({ at }) => at <= count);
      waiting = waiting.filter(({ at }) => at > count);
      for (const { resolve } of due) resolve();
    },
    reach: (at) => (at <= count ? Promise.resolve() : new Promise((resolve) => void waiting.push({ at, resolve }))),
  };
}
