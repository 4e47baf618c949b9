/** Frees a slot; call it exactly once. */
export type ReleaseSlot = () => void;

export type Slots = {
  /** Undefined: aborted before a slot was free. */
  readonly take: (signal: AbortSignal) => Promise<ReleaseSlot | undefined>;
};

export function createSlots(count: number): Slots {
  let free = count;
  const waiting: (() => void)[] = [];
  const release = (): void => {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  };
  return {
    take: (signal) => {
      if (signal.aborted) return Promise.resolve(undefined);
      if (free > 0) {
        free -= 1;
        return Promise.resolve(release);
      }
      return new Promise((resolve) => {
        const leave = (): void => {
          waiting.splice(waiting.indexOf(enter), 1);
          resolve(undefined);
        };
        const enter = (): void => {
          signal.removeEventListener("abort", leave);
          resolve(release);
        };
        waiting.push(enter);
        signal.addEventListener("abort", leave, { once: true });
      });
    },
  };
}
