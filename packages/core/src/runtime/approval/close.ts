import type { SharedDraft } from "../../ledger-port.ts";
import { isAsked } from "../../model/call.ts";
import { SHARED } from "../../model/events.ts";
import { CANCELED, RUN_STOPPED } from "../../model/notification-source.ts";
import type { Ending } from "../dispatch.ts";
import { awaitWritten, type BatchRun, type CallRun, isParking } from "../pipeline/call-run.ts";
import { stoppedEnding } from "../pipeline/endings.ts";
import type { JudgedCall } from "../pipeline/judged-call.ts";
import { notifyVerdict } from "../pipeline/notify.ts";
import type { Session } from "../session/session.ts";

/** Closes the call's approval unless it is claimed; the first event wins. */
export async function closeApproval(batch: BatchRun, run: CallRun, outcome: "expired" | "cancelled" | "denied"): Promise<void> {
  const { session } = batch.deps;
  const call = session.state.calls.get(run.callId);
  if (!isAsked(call)) return;
  if (call.approval === null || (call.state === "waiting" && call.approvalState !== "open")) return;
  const body = { approval: call.approval, session: session.id, call: run.callId, revision: call.revision, outcome, by: "runtime" };
  await settleShared(session, session.draft("approval.closed", body));
  const now = session.state.calls.get(run.callId);
  const yesCameFirst = call.state === "waiting" && now?.state === "approved" && outcome !== "expired";
  if (yesCameFirst) await closeApproval(batch, run, outcome); // an answer came first: withdraw it before the claim
}

/** Ends a stopped call before its effect. If the session is being parked, the call keeps its open approval or unused answer; otherwise it is cancelled. */
export async function stopBeforeClaim(
  batch: BatchRun,
  run: CallRun,
  judged: JudgedCall | undefined,
): Promise<{ readonly end: Ending } | { readonly parked: string }> {
  await awaitWritten(run);
  const call = batch.deps.session.state.calls.get(run.callId);
  if (isParking(run) && isAsked(call) && call.approval !== null) return { parked: call.approval };
  await closeApproval(batch, run, "cancelled");
  notifyVerdict(batch, run, { judged, source: run.stopped === "skipped" ? RUN_STOPPED : CANCELED });
  return { end: stoppedEnding(run) };
}

/** Stores a shared event and waits until the winner is folded. */
export async function settleShared(session: Session, event: SharedDraft): Promise<void> {
  const watch = session.watch(() => undefined);
  try {
    const answer = await session.ledger.answer([event]);
    const winner = "won" in answer ? answer.won[0] : answer.lost;
    if (winner?.session === SHARED) await session.caughtUp(winner.pos); // own events are already folded
  } finally {
    watch.close();
  }
}
