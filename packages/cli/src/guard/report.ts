import { LedgerError, openSession, type ProbeAnswer, type SessionRow } from "@assent/core";
import { callKey, type ForeignCall, type OutsideCall, type OutsideRun, translateCall } from "@assent/guard";
import type { Context } from "../command-line/spec.ts";
import { commandHolder } from "../compose/keep-alive.ts";
import { createOutsideDispatcher } from "./decide.ts";
import { agentTitle, type OutsidePlace, openOutsidePolicy } from "./outside-policy.ts";

/** What an agent says about a call that it ran, or did not run. */
export type OutsideReport = { readonly call: ForeignCall; readonly answer: ProbeAnswer };

/** Ends the claimed call that the report is about: the one with the agent's id, else the oldest with this input. */
export async function reportOutsideCall(context: Context, place: OutsidePlace, { call, answer }: OutsideReport): Promise<void> {
  const translated = translateCall(call.tool, call.input);
  const key = callKey(place.ports.digest, { client: place.agent, id: call.session }, { cwd: call.cwd, ...translated });
  const rows = (await place.ledger.pending("sessions", { prefix: key.call, all: true })).filter(isUnderWay);
  const row = (await findByCallId(place, rows, call.callId)) ?? rows[0];
  if (row) await settleCall(context, place, { row, translated, answer });
}

/** Ends what an agent's session left behind: claimed calls as unknown, open approvals as cancelled. */
export async function endOutsideSession(context: Context, place: OutsidePlace, session: string): Promise<void> {
  const { group } = callKey(place.ports.digest, { client: place.agent, id: session }, {});
  const answer: ProbeAnswer = { state: "unknown", evidence: `the session of ${agentTitle(place.agent)} ended without a report` };
  for (const row of await place.ledger.pending("sessions", { prefix: group, all: true })) {
    if (!isUnderWay(row) && row.state !== "parked") continue;
    const [tool = "unnamed"] = row.title.split(" ", 1);
    await settleCall(context, place, { row, translated: { tool, kind: "other", input: {} }, answer }).catch(ignoreHeld);
  }
}

/** Another hook process works on it right now. */
function ignoreHeld(error: unknown): void {
  if (error instanceof LedgerError && (error.type === "session_in_use" || error.type === "session_busy")) return;
  throw error;
}

function isUnderWay({ state }: SessionRow): boolean {
  return state === "running" || state === "interrupted";
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

type ReportedCall = { readonly row: SessionRow; readonly translated: OutsideCall; readonly answer: ProbeAnswer };

async function settleCall(context: Context, place: OutsidePlace, { row, translated, answer }: ReportedCall): Promise<void> {
  const { ledger, ports } = place;
  const run: OutsideRun = { agent: agentTitle(place.agent), handOver: () => undefined, report: () => answer };
  const policy = await openOutsidePolicy(context, { ...place, cwd: row.cwd }, { call: translated, run });
  const session = await openSession({ ledger, ...ports }, { holder: commandHolder(context, "hook"), id: row.id, runElsewhere: true });
  const dispatcher = await createOutsideDispatcher(context, { place, policy, session, onAsk: "deny" });
  const stopped = AbortSignal.abort(); // nothing of this call may start here
  const { results } = await dispatcher.resume({ tools: policy.tools, signal: stopped });
  const failure = dispatcher.failure();
  if (failure !== undefined) throw failure;
  const ended = results.every(({ outcome }) => outcome === "succeeded");
  await session.close(ended ? "done" : "failed", ended ? 0 : 1);
}
