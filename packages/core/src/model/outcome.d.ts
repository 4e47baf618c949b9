/** How a call may end. */
export declare const OUTCOMES: readonly [
  "succeeded",
  "invalid",
  "denied",
  "rejected",
  "expired",
  "cancelled",
  "failed",
  "timed_out",
  "unknown",
];
/** One of `OUTCOMES`. */
export type OutcomeState = (typeof OUTCOMES)[number];
/** A call's end: its state and, where there is more to say, its machine-readable type. */
export type Outcome = {
  readonly state: OutcomeState;
  readonly type: string | null;
};
