/** How patient a loop detector is. */
export type LoopDetectorOptions = {
  /** Equal batches in a row that trip it; an integer from 1. */
  readonly threshold?: number;
  /** Tools whose repeated identical calls are expected. */
  readonly pollSafe?: (name: string) => boolean;
  /** The longest alternation that is looked for; 1 looks for none. */
  readonly maxPeriod?: number;
  /** How often an alternation must come round; an integer from 2. */
  readonly cycles?: number;
};
/** One call of a batch; the arguments are the model's text, or a value that a door already parsed. */
export type LoopCall = {
  readonly name: string;
  readonly arguments: unknown;
};
/** What tripped the detector last: the same batch `count` times in a row, or `period` batches in turn, `count` batches in all. */
export type LoopTrip = {
  readonly count: number;
  readonly period: number;
  readonly tool: string;
};
/** Watches executed batches for a model that makes no progress. Pure state: it has no clock and starts nothing. */
export type LoopDetector = {
  /** Give every executed batch once, with its results or never with them. Warns at the first trip, stops at every later one. */
  readonly record: (calls: readonly LoopCall[], results?: readonly unknown[]) => "ok" | "warn" | "stop";
  readonly consecutive: number;
  readonly strikes: number;
  readonly trip: LoopTrip | undefined;
  /** For a new user prompt, a notice turn, a switch of agent. */
  readonly reset: () => void;
};
/** A detector with nothing recorded. Throws `RangeError` for options that could never trip, or always would. */
export declare function createLoopDetector(options?: LoopDetectorOptions): LoopDetector;
/** What the model is told in the turn after a warning. */
export declare function loopWarning({ count, period }: LoopTrip): string;
/** Why a run was stopped. */
export declare function loopError({ count, period, tool }: LoopTrip): string;
