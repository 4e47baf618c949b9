import type { JsonObject, Kind, ProbeAnswer, SessionRow } from "@assent/core";
import { callKey, type GuardVerdict, type OutsideCall, translateCall } from "@assent/guard";
import type { Context } from "../command-line/spec.ts";
import { ignoreHeld } from "../io/failure.ts";
import { createCallSession, createOutsideDispatcher, type DecideOptions, dialogOf, handOverUnedited } from "./decide.ts";
import { agentTitle, type OutsidePlace, openOutsidePolicy } from "./outside-policy.ts";
import { isUnderWay, settleCall } from "./settle.ts";

/**
 * Waits for an answer beside the dialog of an agent; the first one counts. The call itself is claimed already, in a session of its own, so
 * this answer is recorded in another one. No opinion at the deadline, when the dialog is answered first, and about other calls.
 */
export async function answerBesideDialog(context: Context, { place, call, signal }: Omit<DecideOptions, "onAsk">): Promise<GuardVerdict> {
  const translated = translateCall(place.agent, call.tool, call.input);
  const { call: prefix } = callKey(place.ports.digest, { client: place.agent, id: call.session }, translated);
  const rows = (await place.ledger.pending("sessions", { prefix, all: true })).filter(isUnderWay);
  const left = await Promise.all(rows.map((row) => isLeftToDialog(place, row)));
  if (!left.includes(true)) return { verdict: "none" };
  const run = handOverUnedited(place, translated, () => `Assent allowed the call in the ${dialogOf(place.agent)}.`);
  const policy = await openOutsidePolicy(context, place, { call: translated, run });
  const session = await createCallSession(context, place, { call, translated, policy, prefix: dialogKey(place, call.session, translated) });
  const dispatcher = await createOutsideDispatcher(context, { place, policy, session, onAsk: "wait" });
  const calls = [{ name: translated.tool, arguments: translated.input }];
  const { results } = await dispatcher.process({ tools: policy.tools, signal, calls });
  const failure = dispatcher.failure();
  if (failure !== undefined) throw failure;
  const [report] = results;
  if (!report || report.outcome === "waiting") throw new Error("the dispatcher returned without an end of the call");
  const { outcome, result } = report;
  await session.close(outcome === "succeeded" ? "done" : "cancelled", outcome === "succeeded" ? 0 : 1);
  if (outcome === "succeeded") return { verdict: "allow" };
  if (outcome === "cancelled" || outcome === "expired") return { verdict: "none" };
  return { verdict: "deny", reason: typeof result.content === "string" ? result.content : "Assent denied this call." };
}

/** Sessions that only hold an answer have ids of their own, in the same group. */
function dialogKey({ ports, agent }: OutsidePlace, session: string, { tool, input }: Pick<OutsideCall, "tool" | "input">): string {
  return callKey(ports.digest, { client: agent, id: session }, { dialog: tool, input }).call;
}

/** True if the hook before the call left the decision to the agent's dialog. */
async function isLeftToDialog({ ledger, agent }: OutsidePlace, { id }: SessionRow): Promise<boolean> {
  const approvals = await ledger.pending("approvals", { session: id, all: true });
  return approvals.some(({ answeredBy }) => answeredBy?.kind === "host" && answeredBy.door === agent);
}

export type DialogCall = { readonly session: string; readonly translated: Pick<OutsideCall, "tool" | "input"> };

/** Closes the oldest approval beside a dialog for this call, because the dialog was answered. */
export async function closeDialog(context: Context, place: OutsidePlace, { session, translated }: DialogCall): Promise<void> {
  const { ledger, ports } = place;
  const rows = await ledger.pending("sessions", { prefix: dialogKey(place, session, translated), all: true });
  const row = rows.find(isUnderWay);
  if (!row) return;
  const at = new Date(ports.clock.now()).toISOString();
  for (const { id: approval, call, revision } of await ledger.pending("approvals", { session: row.id })) {
    const body = { approval, session: row.id, call, revision, outcome: "cancelled", by: dialogOf(place.agent) } as const;
    await ledger.answer([{ type: "approval.closed", v: 1, at, body }]);
  }
  if (row.state === "running") return; // its process ends it
  const answer: ProbeAnswer = { state: "unknown", evidence: "the hook that waited for an answer was stopped" };
  await settleCall(context, place, { row, translated: { ...translated, kind: "other" }, answer }).catch(ignoreHeld);
}

/**
 * Ends calls that were left to the dialog and have no report at the end of the agent's turn. An agent does not report a call that its dialog
 * or our answer refused.
 */
export async function endTurn(context: Context, place: OutsidePlace, session: string): Promise<void> {
  const { group } = callKey(place.ports.digest, { client: place.agent, id: session }, {});
  for (const row of await place.ledger.pending("sessions", { prefix: group, all: true })) {
    if (row.state !== "interrupted" || !(await isLeftToDialog(place, row))) continue;
    const translated = await readCall(place, row.id);
    if (!translated) continue;
    await closeDialog(context, place, { session, translated });
    const dialogs = await place.ledger.pending("sessions", { prefix: dialogKey(place, session, translated), all: true });
    const refused = dialogs.length > 0 && dialogs.at(-1)?.state !== "done";
    const answer: ProbeAnswer = refused
      ? { state: "not_applied", evidence: `the call was not allowed in the ${dialogOf(place.agent)}` }
      : { state: "unknown", evidence: `${agentTitle(place.agent)} ended its turn without a report` };
    await settleCall(context, place, { row, translated, answer }).catch(ignoreHeld);
  }
}

async function readCall({ ledger }: OutsidePlace, session: string): Promise<OutsideCall | undefined> {
  for await (const { body } of ledger.read({ session, seq: 0 }, { session, types: ["call.judged"] })) {
    const { tool, kind, input } = await ledger.resolve(body);
    return { tool: String(tool), kind: kind as Kind, input: input as JsonObject };
  }
  return undefined;
}
