import type { SharedDraft } from "../../ledger-port.ts";
import { isAsked } from "../../model/call.ts";
import { SHARED } from "../../model/events.ts";
import { type BatchRun, type CallRun, isParking } from "../pipeline/call-run.ts";
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

export function parkedApproval({ deps }: BatchRun, run: CallRun): { readonly parked: string } | undefined {
  const call = deps.session.state.calls.get(run.callId);
  return isParking(run) && isAsked(call) && call.approval !== null ? { parked: call.approval } : undefined;
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
