/** Numbers and choices that a seed decides. */
export type Random = {
  /** A whole number below the bound. */
  readonly below: (bound: number) => number;
  readonly chance: (share: number) => boolean;
  readonly pick: <One>(from: readonly One[]) => One;
};

/** The same choices for the same seed and number; neighbouring numbers have nothing in common. */
export function randomOf(seed: number, number = 0): Random {
  let state = (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(number + 1, 0xc2b2ae35)) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (bound: number): number => Math.floor(next() * bound);
  return {
    below,
    chance: (share) => next() < share,
    pick: (from) => {
      const one = from[below(from.length)];
      if (one === undefined) throw new Error("there is nothing to pick from");
      return one;
    },
  };
}
