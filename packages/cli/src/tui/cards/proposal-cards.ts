import {
  messageOf,
  type OpenApproval,
  type ProposalPart,
  type ProposalRow,
  readStoredProposal,
  reviewProposal,
  type Session,
} from "@assent/core";
import { nodeDigest } from "@assent/host";
import type { ApprovalEditor } from "../../desk/approvals/editor.ts";
import { editReviewed, type ReviewedChange, withEdited } from "../../desk/proposals/review.ts";
import { oneLine } from "../../io/visible-text.ts";
import { approvalCard, type CardBeginning } from "./approval-card.ts";
import { freePlace, presentCard } from "./present.ts";
import type { CardStack } from "./stack.ts";

export type Settlement = { readonly reason: string; readonly part?: ProposalPart };

export type SettleProposal = (action: "apply" | "discard", proposal: string, settlement: Settlement) => Promise<void>;

export type ProposalCardParts = {
  readonly stack: CardStack;
  readonly settle: SettleProposal;
  readonly leaving: AbortSignal;
  readonly edit?: ApprovalEditor;
};

/** Shows a card for every change that only a person may apply, until it is settled or the person leaves. */
export function attendProposals(parts: ProposalCardParts, session: Session): void {
  const open = new Map<string, AbortController>();
  const show = (id: string): void => {
    const row = session.state.proposals.get(id);
    if (row?.state !== "staged" || open.has(id)) return;
    const gone = new AbortController();
    open.set(id, gone);
    const isStaged = (): boolean => session.state.proposals.get(id)?.state === "staged";
    void reviewOnCard(parts, { session, row, isStaged, signal: AbortSignal.any([gone.signal, parts.leaving]) }).catch(() => undefined); // the turn reports store failures
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

type ProposalOnCard = {
  readonly session: Pick<Session, "ledger">;
  readonly row: ProposalRow;
  readonly isStaged: () => boolean | Promise<boolean>;
  readonly signal: AbortSignal;
};

/** Shows the change until it is settled. A part that could not be applied leaves the change on its card. */
export async function reviewOnCard(
  parts: Omit<ProposalCardParts, "leaving">,
  { session, row, isStaged, signal }: ProposalOnCard,
): Promise<void> {
  const { stack, settle, edit } = parts;
  const { manifest } = await readStoredProposal(session, row);
  const approval = approvalFromProposal(row, manifest.blocks);
  const place = freePlace();
  let review: readonly ReviewedChange[] = await reviewProposal(session, row, nodeDigest);
  let beginning: CardBeginning = {};
  try {
    while (!signal.aborted) {
      const card = approvalCard(approval, {
        editable: edit && review.some(({ text }) => text && text.after !== null) ? "content" : undefined,
        editor: edit?.hasEditor() === true,
        isProposal: true,
        ...(review.length > 0 && { review }),
      });
      const outcome = await presentCard(stack, { card, beginning, place, id: row.id, title: oneLine(row.label) }, signal);
      if (!outcome) return;
      if ("answer" in outcome) {
        place.leave();
        const { outcome: said, reason = "", part } = outcome.answer;
        await settle(said === "approve" ? "apply" : "discard", row.id, { reason, ...(part && { part }) });
        place.item = undefined;
        if (!(await isStaged())) return;
        beginning = { hint: NOT_SETTLED };
      } else {
        const edited = await editOnCard(edit, "wants" in outcome ? review[outcome.file ?? 0] : undefined, signal);
        if ("message" in edited) beginning = { hint: oneLine(edited.message) };
        else {
          review = withEdited(review, edited);
          beginning = { hint: YOURS };
        }
      }
    }
  } finally {
    place.leave();
  }
}

const NOT_SETTLED = "The change is still waiting: the line above says why.";
export const YOURS = "This is your version. It is checked when you apply it.";

/** Lets the person change the new content of one file. */
export async function editOnCard(
  edit: ApprovalEditor | undefined,
  file: ReviewedChange | undefined,
  signal: AbortSignal,
): ReturnType<typeof editReviewed> {
  if (!edit || !file) return { message: "This can't be edited here." };
  try {
    return await editReviewed(edit, file, signal);
  } catch (error) {
    return { message: messageOf(error) }; // a settled change takes its card with it
  }
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
