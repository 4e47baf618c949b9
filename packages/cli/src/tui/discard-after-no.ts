import { type OpenApproval, recordedCall, type Session } from "@assent/core";
import type { Settle } from "./cards/proposal-cards.ts";

/** Discards the previewed change that a rejected call would have applied. The call ends as rejected first: without the change it would end otherwise. */
export function discardAfterNo(
  sessionOf: (id: string) => Session | undefined,
  settle: Settle,
): (approval: OpenApproval, reason: string) => void {
  return ({ sessionId, callId }, reason) => {
    const session = sessionOf(sessionId);
    const ended = session?.listen((event) => {
      if (event.type !== "call.ended" || event.body.call !== callId) return;
      ended?.close();
      void recordedCall(session.ledger, sessionId, callId).then(({ "call.judged": judged }) => {
        const proposal = judged?.binds["proposal"];
        return proposal === undefined ? undefined : settle("discard", proposal, reason);
      });
    });
  };
}
