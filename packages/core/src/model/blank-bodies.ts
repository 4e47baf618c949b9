import type { EventBodies } from "./events.ts";

/**
 * What a call leaves on record is made from these, as `{ ...PROPOSED, … }` with every field given anew. Objects that are written out as a literal, and that mostly
 * live on, V8 begins to put among what lives long, where those of closed sessions stay until everything is collected: a call in memory cost up to half as much
 * again. A copy is made where everything new is made; it is quick only from what is not frozen.
 */
export const PROPOSED: EventBodies["call.proposed"] = { call: "", turn: 0, index: 0, tool: "", raw: null, givenId: null };

/** See `PROPOSED`. */
export const JUDGED: EventBodies["call.judged"] = {
  call: "",
  revision: 0,
  tool: "",
  toolDigest: "",
  kind: "other",
  safe: false,
  input: Object.freeze({}),
  cwd: "",
  binds: Object.freeze({}),
  verdict: "deny",
  explicitAsk: false,
  reason: "default",
  source: "",
  rule: null,
  trace: Object.freeze([]),
  units: 0,
  policy: "",
};

/** See `PROPOSED`. */
export const CLAIMED: EventBodies["call.claimed"] = {
  call: "",
  answer: null,
  attempt: 1,
  durability: "full",
  idempotencyKey: null,
  plan: null,
};

/** See `PROPOSED`. */
export const ENDED: EventBodies["call.ended"] = { call: "", outcome: "unknown", type: null, content: "", durationMs: 0 };
