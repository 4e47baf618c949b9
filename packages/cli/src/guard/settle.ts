import { openSession, type ProbeAnswer, type SessionRow } from "@assent/core";
import type { OutsideCall, OutsideRun } from "@assent/guard";
import type { Context } from "../command-line/spec.ts";
import { commandHolder } from "../compose/keep-alive.ts";
import { ignoreHeld } from "../io/failure.ts";
import { createOutsideDispatcher } from "./decide.ts";
import { agentTitle, type OutsidePlace, openOutsidePolicy } from "./outside-policy.ts";

export function isUnderWay({ state }: SessionRow): boolean {
  return state === "running" || state === "interrupted";
}

export type ReportedCall = { readonly row: SessionRow; readonly translated: OutsideCall; readonly answer: ProbeAnswer };

/** Ends a call that another process left: a claimed one as the answer says, one that waits as cancelled. */
export async function settleCall(context: Context, place: OutsidePlace, { row, translated, answer }: ReportedCall): Promise<void> {
  const { ledger, ports } = place;
  const run: OutsideRun = { agent: agentTitle(place.agent), handOver: () => undefined, report: () => answer };
  const policy = await openOutsidePolicy(context, { ...place, cwd: row.cwd }, { call: translated, run });
  const session = await openSession({ ledger, ...ports }, { holder: commandHolder(context, "hook"), id: row.id, runElsewhere: true });
  if (session.state.closed && session.state.closed.reason !== "parked") return; // another hook process was faster
  const dispatcher = await createOutsideDispatcher(context, { place, policy, session, onAsk: "deny" });
  const stopped = AbortSignal.abort(); // nothing of this call may start here
  const { results } = await dispatcher.resume({ tools: policy.tools, signal: stopped });
  const failure = dispatcher.failure();
  if (failure !== undefined) throw failure;
  const ended = results.every(({ outcome }) => outcome === "succeeded");
  await session.close(ended ? "done" : "failed", ended ? 0 : 1);
}

/** Ends a call that its agent left without a report. */
export async function settleUnreported(context: Context, place: OutsidePlace, row: SessionRow, evidence: string): Promise<void> {
  const [tool = "unnamed"] = row.title.split(" ", 1);
  const translated = { tool, kind: "other", input: {} } as const;
  await settleCall(context, place, { row, translated, answer: { state: "unknown", evidence } }).catch(ignoreHeld);
}
