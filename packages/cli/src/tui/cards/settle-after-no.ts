import { type OpenApproval, type ProposalPart, readCallRecord, type Session } from "@assent/core";
import type { SettleProposal } from "./proposal-cards.ts";

/** What becomes of the change that a rejected call would have applied: it is discarded, or a part of it is applied. */
export type SettlementAfterNo = { readonly reason: string; readonly part?: ProposalPart };

/** Settles the change of a rejected call. It waits for the call's end: without the change the call would not end as rejected. */
export function settleAfterNo(
  sessionOf: (id: string) => Session | undefined,
  settle: SettleProposal,
): (approval: OpenApproval, settlement: SettlementAfterNo) => void {
  return ({ sessionId, callId }, { reason, part }) => {
    const session = sessionOf(sessionId);
    const ended = session?.listen((event) => {
      if (event.type !== "call.ended" || event.body.call !== callId) return;
      ended?.close();
      const act = async (): Promise<void> => {
        const { "call.judged": judged } = await readCallRecord(session.ledger, sessionId, callId);
        const proposal = judged?.binds["proposal"];
        if (proposal !== undefined) await settle(part ? "apply" : "discard", proposal, { reason, ...(part && { part }) });
      };
      act().catch(() => undefined); // the turn reports store failures
    });
  };
}

/** What the model sees as the reason for a call that was rejected because the person applies a part. */
export const PART_REASON = "The person applies only a part of this change. A notice says which part was applied and which was not.";
