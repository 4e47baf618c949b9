import { type OpenApproval, readCallRecord, type Session } from "@assent/core";
import type { SettleProposal } from "./proposal-cards.ts";

/** Discards the change of a rejected call. It waits for the call's end: without the change the call would not end as rejected. */
export function discardAfterNo(
  sessionOf: (id: string) => Session | undefined,
  settle: SettleProposal,
): (approval: OpenApproval, reason: string) => void {
  return ({ sessionId, callId }, reason) => {
    const session = sessionOf(sessionId);
    const ended = session?.listen((event) => {
      if (event.type !== "call.ended" || event.body.call !== callId) return;
      ended?.close();
      const act = async (): Promise<void> => {
        const { "call.judged": judged } = await readCallRecord(session.ledger, sessionId, callId);
        const proposal = judged?.binds["proposal"];
        if (proposal !== undefined) await settle("discard", proposal, { reason });
      };
      act().catch(() => undefined); // the turn reports store failures
    });
  };
}
