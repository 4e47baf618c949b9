import type { Answer, Approver, By, OpenApproval } from "@assent/core";
import { messageOf } from "@assent/core";
import { acceptedOfferText, acceptOffer, type ConfinedOffer } from "../../desk/approvals/confined-offer.ts";
import { type ApprovalEditor, CHANGED_NOTE, changeSinceShown, editCommand } from "../../desk/approvals/editor.ts";
import { isAskedAboutConfined } from "../../desk/approvals/facts.ts";
import type { EditFailure, RequestEdit } from "../../desk/approvals/revise.ts";
import { appliesProposal, approvalTitle } from "../../desk/approvals/view.ts";
import { type ReviewedChange, withEdited } from "../../desk/proposals/review.ts";
import { oneLine } from "../../io/visible-text.ts";
import { approvalCard, type CardAnswer, type CardBeginning, type CardOutcome } from "./approval-card.ts";
import { freePlace, presentCard, type StackPlace } from "./present.ts";
import { editOnCard, YOURS } from "./proposal-cards.ts";
import type { CardStack } from "./stack.ts";

export type CardApproverParts = {
  readonly stack: CardStack;
  readonly by: By;
  readonly edit?: ApprovalEditor;
  /** Discards the change that a rejected call would have applied. */
  readonly discardAfterNo?: (approval: OpenApproval, reason: string) => void;
  /** The files that a call would change, if it applies a proposal or a preview of it can be written. */
  readonly review?: (approval: OpenApproval) => Promise<readonly ReviewedChange[] | undefined> | undefined;
  readonly confinedOffer?: ConfinedOffer;
  /** The position of its call among the open calls of its session. */
  readonly placeOf?: (approval: OpenApproval) => number | undefined;
};

export function cardApprover(parts: CardApproverParts): Approver {
  return { available: () => true, ask: (approval, signal) => ask(parts, approval, signal) };
}

/** The request as the model made it, or as the person edited it. */
type CardContent = {
  readonly approval: OpenApproval;
  readonly edit?: RequestEdit;
  /** The rejected draft, for the next try. */
  readonly draft?: string | undefined;
  readonly beginning: CardBeginning;
  readonly review?: readonly ReviewedChange[] | undefined;
};
type CardApproval = {
  readonly parts: CardApproverParts;
  readonly asked: OpenApproval;
  readonly signal: AbortSignal;
  readonly place: StackPlace;
  readonly allowConfinedIn: string | undefined;
};

async function ask(parts: CardApproverParts, asked: OpenApproval, signal: AbortSignal): Promise<Answer | undefined> {
  const place = freePlace();
  const allowConfinedIn = isAskedAboutConfined(asked) ? parts.confinedOffer?.take() : undefined;
  const asking: CardApproval = { parts, asked, signal, place, allowConfinedIn };
  const loading = parts.review?.(asked);
  const review = loading && (await loading.catch(() => undefined)); // the card shows the text of the request instead
  try {
    for (let sheet: CardContent = { approval: asked, beginning: {}, review }; ; ) {
      const outcome = await showCard(asking, sheet);
      if (outcome === undefined) return undefined;
      const isAnswer = "answer" in outcome;
      const next = isAnswer ? await recheckEdit(asking, sheet, outcome.answer) : await editRequest(asking, sheet, outcome);
      if (!isAnswer || next !== sheet) sheet = next;
      else {
        const problem = outcome.answer.allowConfined && (await acceptOffer(parts.confinedOffer));
        if (problem === undefined) return makeAnswer(asking, sheet, outcome.answer);
        sheet = { ...sheet, beginning: { hint: problem } };
      }
    }
  } finally {
    place.leave();
  }
}

/** An approval covers the edited request; hunks are chosen from it. */
function makeAnswer(
  { asked, parts, allowConfinedIn }: CardApproval,
  { edit }: CardContent,
  { discard, allowConfined, ...said }: CardAnswer,
): Answer {
  const { id, revision, fingerprint } = asked;
  if (discard) parts.discardAfterNo?.(asked, said.reason ?? "");
  const changed = said.outcome === "approve" && said.newContent === undefined ? edit : undefined;
  const recorded = allowConfined ? { reason: acceptedOfferText(allowConfinedIn) } : {};
  return { approval: id, revision, fingerprint, by: parts.by, ...changed, ...said, ...recorded };
}

/** Returns the same content, unless the edited request would now do something else. */
async function recheckEdit(
  { parts: { edit: editor }, asked, signal }: CardApproval,
  sheet: CardContent,
  said: CardAnswer,
): Promise<CardContent> {
  const { approval, edit } = sheet;
  if (said.outcome !== "approve" || !edit || !editor) return sheet;
  try {
    const now = await changeSinceShown(editor, { asked, edit, approval }, signal);
    if (!now) return sheet;
    return "message" in now
      ? { approval: asked, beginning: { hint: oneLine(now.message) } }
      : { approval: now, edit, beginning: { hint: CHANGED_NOTE } };
  } catch (error) {
    return { ...sheet, beginning: { hint: messageOf(error) } };
  }
}

/** Returns the edited request, or the old content with the reason why the edit failed. */
async function editRequest(asking: CardApproval, sheet: CardContent, outcome: EditOutcome): Promise<CardContent> {
  if ("wants" in outcome && outcome.file !== undefined) return await editFileOf(asking, sheet, outcome.file);
  const {
    parts: { edit: editor },
    asked,
    signal,
  } = asking;
  const typed = "command" in outcome ? outcome.command : outcome.draft;
  const again = ({ message, text }: EditFailure): CardContent => ({
    ...sheet,
    draft: text,
    beginning: { hint: oneLine(message), ...(typed !== undefined && { draft: typed }) },
  });
  if (!editor) return again({ message: "This can't be edited here." });
  try {
    const { approval: shown } = sheet;
    const edit =
      "command" in outcome
        ? editCommand(shown, outcome.command)
        : await editor.open({ approval: shown, draft: typed ?? sheet.draft }, signal);
    if ("message" in edit) return again(edit);
    const approval = await editor.revise(asked, edit, signal);
    return "message" in approval ? again(approval) : { approval, edit, beginning: {} };
  } catch (error) {
    return again({ message: messageOf(error) }); // a withdrawn approval takes its card with it
  }
}

/** Changes the new content of one file; the card shows it again. */
async function editFileOf({ parts: { edit }, signal }: CardApproval, sheet: CardContent, at: number): Promise<CardContent> {
  const edited = await editOnCard(edit, sheet.review?.[at], signal);
  if ("message" in edited) return { ...sheet, beginning: { hint: oneLine(edited.message) } };
  return { ...sheet, review: withEdited(sheet.review ?? [], edited), beginning: { hint: YOURS } };
}

type EditOutcome = Exclude<CardOutcome, { readonly answer: unknown }>;

function showCard(
  { parts: { stack, edit, placeOf, discardAfterNo }, asked, signal, place, allowConfinedIn }: CardApproval,
  { approval, edit: edited, review, beginning }: CardContent,
): Promise<CardOutcome | undefined> {
  const canEditFile = edit && review?.some(({ text }) => text && text.after !== null);
  const card = approvalCard(approval, {
    editable: review ? (canEditFile ? "content" : undefined) : edit?.editable(asked),
    editor: edit?.hasEditor() === true,
    discards: discardAfterNo !== undefined && appliesProposal(asked),
    allowConfinedIn: edited ? undefined : allowConfinedIn,
    ...(edited && { original: asked }),
    ...(review && { review }),
  });
  const title = oneLine(approvalTitle(approval));
  const call = { session: asked.sessionId, place: () => placeOf?.(asked) };
  return presentCard(stack, { card, beginning, place, id: approval.id, title, call }, signal);
}
