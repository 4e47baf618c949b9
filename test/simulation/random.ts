import { seeded } from "../crash/seeded.ts";

/** Whole numbers below a bound. */
export type Random = (bound: number) => number;

/** The same numbers for the same seed and purpose; neighbouring seeds have nothing in common. */
export function randomOf(seed: number, purpose: number): Random {
  let mixed = (seed ^ Math.imul(purpose + 1, 0x9e3779b9)) >>> 0;
  for (const factor of [0x85ebca6b, 0xc2b2ae35]) mixed = Math.imul(mixed ^ (mixed >>> 15), factor) >>> 0;
  return seeded(mixed ^ (mixed >>> 16));
}

/** One of these. */
export function pick<T>(random: Random, from: readonly T[]): T {
  const one = from[random(from.length)];
  if (one === undefined) throw new Error("there is nothing to choose from");
  return one;
}
