/** Gives a place away; to be called exactly once. */
export type ReleaseSlot = () => void;

/** A number of places that may be taken at the same time, in the order of asking. */
export type Slots = {
  /** Undefined: the signal aborted before a place was free. */
  readonly take: (signal: AbortSignal) => Promise<ReleaseSlot | undefined>;
};

/** So many places and no more. */
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
