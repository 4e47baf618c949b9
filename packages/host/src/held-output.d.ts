import type { Spilled, SpillFile } from "@assent/core";
/** What is known of a program's output when it has ended. */
export type HeldEnd = {
  readonly output: string;
  readonly chars: number;
  readonly lines: number;
  /** Bytes that are in neither head nor tail. */
  readonly dropped: number;
  readonly spilled?: Spilled;
};
/** Takes output piece by piece; the promise of `take` is the back-pressure. */
export type HeldOutput = {
  readonly take: (bytes: Uint8Array, text: string) => Promise<void>;
  readonly end: () => Promise<HeldEnd>;
};
/**
 * Holds at most `limit` bytes. Up to there everything is kept; beyond it the first fifth and the newest rest are, and all of it goes to the spill file as it
 * comes. A spill file that fails is given up: the output then is head and tail without a file.
 */
export declare function heldOutput(limit: number, openSpill: (() => Promise<SpillFile>) | undefined): HeldOutput;
