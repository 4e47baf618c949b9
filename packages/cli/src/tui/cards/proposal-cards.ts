import { type OpenApproval, type ProposalRow, readStoredProposal, type Session } from "@assent/core";
import { oneLine } from "../../io/visible-text.ts";
import { approvalCard } from "./approval-card.ts";
import type { CardStack } from "./stack.ts";

/** Applies or discards a previewed change for the person. */
export type SettleProposal = (action: "apply" | "discard", proposal: string, reason: string) => Promise<void>;

/** What proposal cards need. */
export type ProposalCardParts = { readonly stack: CardStack; readonly settle: SettleProposal; readonly leaving: AbortSignal };

/** Shows a card for every change that only a person may apply, until it is settled or the person leaves. */
export function attendProposals(parts: ProposalCardParts, session: Session): void {
  const open = new Map<string, AbortController>();
  const show = (id: string): void => {
    const row = session.state.proposals.get(id);
    if (row?.state !== "staged" || open.has(id)) return;
    const gone = new AbortController();
    open.set(id, gone);
    void showCard(parts, { session, row, signal: AbortSignal.any([gone.signal, parts.leaving]) }).catch(() => undefined); // the turn reports store failures
  };
  for (const { id, parked } of session.state.proposals.values()) if (parked) show(id);
  session.listen((event) => {
    if (event.type === "proposal.parked" && event.body.why === "person") queueMicrotask(() => show(event.body.proposal));
    else if (event.type === "session.closed") for (const gone of open.values()) gone.abort();
    else if (SETTLED.includes(event.type) && "proposal" in event.body) open.get(event.body.proposal)?.abort();
  });
}

const SETTLED: readonly string[] = [
  "proposal.applying",
  "proposal.applied",
  "proposal.discarded",
  "proposal.stale",
  "proposal.superseded",
  "proposal.unknown",
];

type ProposalOnCard = { readonly session: Session; readonly row: ProposalRow; readonly signal: AbortSignal };

async function showCard({ stack, settle }: ProposalCardParts, { session, row, signal }: ProposalOnCard): Promise<void> {
  const { manifest } = await readStoredProposal(session, row);
  if (signal.aborted) return;
  const card = approvalCard(approvalFromProposal(row, manifest.blocks), { editable: undefined, editor: false, isProposal: true });
  let state = card.begin();
  const take = stack.put({
    id: row.id,
    title: oneLine(row.label),
    view: (canvas) => card.view(state, canvas),
    shown: (canvas) => {
      state = card.shown(state, canvas);
    },
    press: (key, size) => {
      const { state: next, outcome } = card.key(state, key, size);
      state = next;
      if (!outcome || !("answer" in outcome)) return;
      take();
      void settle(outcome.answer.outcome === "approve" ? "apply" : "discard", row.id, outcome.answer.reason ?? "");
    },
  });
  signal.addEventListener("abort", take, { once: true });
}

/** Cards draw approvals, so the change takes the form of one. */
function approvalFromProposal({ id, session, callId, tool, label, digest, cwd }: ProposalRow, blocks: readonly string[]): OpenApproval {
  const prompt = blocks.length > 0 ? blocks.join("\n") : `${label}\nWhat it changes is not recorded.`;
  return {
    ...{ id, revision: 0, sessionId: session, callId: callId ?? "", tool, title: label, fingerprint: digest, input: {}, cwd },
    ...{ reason: "resolver", source: "settings", rule: null, explicitAsk: true, suggestions: [], expiresAt: null },
    details: { type: "info", prompt, hideAlwaysAllow: true },
  };
}
