import { planOf } from "./plan.ts";
import { type Simulating, simulate } from "./simulation.ts";
import type { Violation } from "./world.ts";

/** A seed under which something is not as it must be. */
export type Failed = { readonly seed: number; readonly violation: Violation };

/** The first seed of a range that fails, if any; `played` hears of each one that does not. */
export async function firstFailing(
  from: number,
  seeds: number,
  simulating: Simulating & { readonly played?: () => void } = {},
): Promise<Failed | undefined> {
  for (let seed = from; seed < from + seeds; seed += 1) {
    const {
      violations: [violation],
    } = await simulate(planOf(seed), simulating);
    if (violation) return { seed, violation };
    simulating.played?.();
  }
  return undefined;
}
