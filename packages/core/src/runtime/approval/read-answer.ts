import type { Consent } from "../../model/call.ts";
import type { EventBodies } from "../../model/events.ts";
import type { Json } from "../../model/json/json.ts";
import { parseEvent } from "../../model/known-event.ts";
import type { BatchRun, CallRun } from "../pipeline/call-run.ts";

type Answered = EventBodies["approval.answered"];

/** Reads the recorded answer that approved a call, with its large values. */
export async function readAnswer({ deps }: BatchRun, run: CallRun, consent: Consent): Promise<Answered | undefined> {
  const { ledger, id } = deps.session;
  for await (const stored of ledger.read({ pos: consent.pos - 1 }, { naming: id, call: run.callId, types: ["approval.answered"] })) {
    const event = parseEvent(stored);
    if (event?.type === "approval.answered" && event.pos === consent.pos)
      return (await ledger.resolve(event.body as unknown as Json)) as unknown as Answered;
  }
  return undefined;
}
