/** How a call may end. */
export const OUTCOMES: readonly ["succeeded", "invalid", "denied", "rejected", "expired", "cancelled", "failed", "timed_out", "unknown"] =
  Object.freeze(["succeeded", "invalid", "denied", "rejected", "expired", "cancelled", "failed", "timed_out", "unknown"] as const);

/** One of `OUTCOMES`. */
export type OutcomeState = (typeof OUTCOMES)[number];

/** How a call ended. */
export type Outcome = { readonly state: OutcomeState; readonly type: string | null };
