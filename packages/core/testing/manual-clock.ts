import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../src/ports.ts";

/** A clock that moves only when asked. */
export type ManualClock = Clock & {
  /** Fires due timers in order; the work that each starts runs before the next. */
  readonly advance: (ms: number) => Promise<void>;
  /** Sets the wall clock without firing timers. */
  readonly jump: (ms: number) => void;
  /** The timers that have neither fired nor been cancelled. */
  readonly pending: () => number;
};

type Timer = { readonly due: number; readonly order: number; readonly fire: () => void };

const START = Date.UTC(2026, 0, 1);

/** Creates a clock that starts in 2026 by default. */
export function manualClock(start: number = START): ManualClock {
  const timers = new Set<Timer>();
  let passed = 0;
  let offset = start;
  let order = 0;
  return {
    now: () => offset + passed,
    timer: (ms, fire) => {
      order += 1;
      const timer = { due: passed + Math.max(0, ms), order, fire };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance: async (ms) => {
      const until = passed + ms;
      await turn();
      for (let timer = nextDue(timers, until); timer; timer = nextDue(timers, until)) {
        timers.delete(timer);
        passed = Math.max(passed, timer.due);
        timer.fire();
        await turn();
      }
      passed = until;
    },
    jump: (ms) => {
      offset += ms;
    },
    pending: () => timers.size,
  };
}

function nextDue(timers: ReadonlySet<Timer>, until: number): Timer | undefined {
  let first: Timer | undefined;
  for (const timer of timers) {
    const isSooner = first === undefined || timer.due < first.due || (timer.due === first.due && timer.order < first.order);
    if (timer.due <= until && isSooner) first = timer;
  }
  return first;
}
