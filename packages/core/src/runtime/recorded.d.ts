import type { Ledger } from "../ledger-port.ts";
import type { EventBodies } from "../model/events.ts";
/** What the ledger has on one call: the newest event of each type. */
export type RecordedCall = {
  readonly [T in RecordedType]?: EventBodies[T];
};
type RecordedType = "call.proposed" | "call.judged" | "call.claimed" | "call.started" | "call.ended" | "approval.opened";
/** Reads one call back, large values included. */
export declare function recordedCall(ledger: Ledger, session: string, call: string): Promise<RecordedCall>;
