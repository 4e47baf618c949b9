import type { ProbeAnswer, SessionRow } from "@assent/core";
import { callKey, type ForeignCall, translateCall } from "@assent/guard";
import type { Context } from "../command-line/spec.ts";
import { closeDialog } from "./dialog.ts";
import { agentTitle, type OutsidePlace } from "./outside-policy.ts";
import { isUnderWay, settleCall, settleUnreported } from "./settle.ts";

/** What an agent says about a call that it ran, or did not run. */
export type OutsideReport = { readonly call: ForeignCall; readonly answer: ProbeAnswer };

/** Ends the claimed call that the report is about: the one with the agent's id, else the oldest with this input. */
export async function reportOutsideCall(context: Context, place: OutsidePlace, { call, answer }: OutsideReport): Promise<void> {
  const translated = translateCall(place.agent, call.tool, call.input);
  const key = callKey(place.ports.digest, { client: place.agent, id: call.session }, translated);
  const rows = (await place.ledger.pending("sessions", { prefix: key.call, all: true })).filter(isUnderWay);
  const row = (await findByCallId(place, rows, call.callId)) ?? rows[0];
  await closeDialog(context, place, { session: call.session, translated });
  if (row) await settleCall(context, place, { row, translated, answer });
}

/** Ends what an agent's session left behind: claimed calls as unknown, open approvals as cancelled. */
export async function endOutsideSession(context: Context, place: OutsidePlace, session: string): Promise<void> {
  const { group } = callKey(place.ports.digest, { client: place.agent, id: session }, {});
  for (const row of await place.ledger.pending("sessions", { prefix: group, all: true })) {
    if (!isUnderWay(row) && row.state !== "parked") continue;
    await settleUnreported(context, place, row, `the session of ${agentTitle(place.agent)} ended without a report`);
  }
}

async function findByCallId(
  { ledger }: OutsidePlace,
  rows: readonly SessionRow[],
  callId: string | undefined,
): Promise<SessionRow | undefined> {
  if (callId === undefined || rows.length < 2) return undefined;
  for (const row of rows)
    for await (const { body } of ledger.read({ session: row.id, seq: 0 }, { session: row.id, types: ["call.proposed"] }))
      if (body["givenId"] === callId) return row;
  return undefined;
}
