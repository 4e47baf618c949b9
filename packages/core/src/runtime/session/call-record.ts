import { AnswerError } from "../../errors.ts";
import type { Ledger } from "../../ledger-port.ts";
import type { EventBodies, LedgerEvent } from "../../model/events.ts";
import type { Json } from "../../model/json/json.ts";
import { parseEvent } from "../../model/known-event.ts";

/** The newest event of each type for one call. */
export type CallRecord = { readonly [T in RecordedType]?: EventBodies[T] };

type RecordedType = "call.proposed" | "call.judged" | "call.claimed" | "call.started" | "call.ended" | "approval.opened";

const TYPES: readonly RecordedType[] = ["call.proposed", "call.judged", "call.claimed", "call.started", "call.ended", "approval.opened"];

/** Reads one call's record, including large values. */
export async function readCallRecord(ledger: Ledger, session: string, call: string): Promise<CallRecord> {
  const newest: Partial<Record<string, LedgerEvent["body"]>> = {};
  for await (const stored of ledger.read({ session, seq: 0 }, { session, call, types: TYPES })) {
    const event = parseEvent(stored);
    if (event) newest[event.type] = event.body;
  }
  const whole = await ledger.resolve(newest as unknown as Json);
  return whole as unknown as CallRecord;
}

export async function readWorkspace(ledger: Ledger, session: string): Promise<string> {
  for await (const event of ledger.read({ session, seq: 0 }, { session, types: ["session.created"] }))
    return String(event.body["workspace"]);
  throw new AnswerError("bad_answer", `The record of session ${session} has no beginning.`);
}
