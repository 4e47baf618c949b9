import type { Answer, Approver, By, OpenApproval } from "@assent/core";
import { messageOf } from "@assent/core";
import { type ApprovalEditor, CHANGED_NOTE, changeSinceShown, editCommand } from "../../desk/approvals/editor.ts";
import type { EditFailure, RequestEdit } from "../../desk/approvals/revise.ts";
import { appliesProposal, approvalTitle } from "../../desk/approvals/view.ts";
import { oneLine } from "../../io/visible-text.ts";
import type { CardMeans } from "./actions.ts";
import { approvalCard, type CardBeginning, type CardOutcome } from "./approval-card.ts";
import type { CardStack, StackedCard } from "./stack.ts";

/** What the approver needs. */
export type CardApproverParts = {
  readonly stack: CardStack;
  readonly by: By;
  /** Lets the person edit a request before approving it. */
  readonly edit?: ApprovalEditor;
  /** Discards the change that a rejected call would have applied. */
  readonly discard?: (approval: OpenApproval, reason: string) => void;
  /** The position of its call among the open calls of its session. */
  readonly placeOf?: (approval: OpenApproval) => number | undefined;
};

/** Shows every approval as a card. */
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
};
type AskedApproval = {
  readonly parts: CardApproverParts;
  readonly asked: OpenApproval;
  readonly signal: AbortSignal;
  readonly place: StackPlace;
};
/** The card's place, which the card after an edit takes over. */
type StackPlace = { item: StackedCard | undefined; leave: () => void };

async function ask(parts: CardApproverParts, asked: OpenApproval, signal: AbortSignal): Promise<Answer | undefined> {
  const place: StackPlace = { item: undefined, leave: () => undefined };
  const asking: AskedApproval = { parts, asked, signal, place };
  try {
    for (let sheet: CardContent = { approval: asked, beginning: {} }; ; ) {
      const outcome = await showCard(asking, sheet);
      if (outcome === undefined) return undefined;
      const isAnswer = "answer" in outcome;
      const next = isAnswer ? await recheckEdit(asking, sheet, outcome.answer) : await editRequest(asking, sheet, outcome);
      if (isAnswer && next === sheet) return makeAnswer(asking, sheet, outcome.answer);
      sheet = next;
    }
  } finally {
    place.leave();
  }
}

type CardAnswer = Extract<CardOutcome, { readonly answer: unknown }>["answer"];

/** An approval covers the edited request; hunks are chosen from it. */
function makeAnswer({ asked, parts }: AskedApproval, { edit }: CardContent, { discard, ...said }: CardAnswer): Answer {
  const { id, revision, fingerprint } = asked;
  if (discard) parts.discard?.(asked, said.reason ?? "");
  const changed = said.outcome === "approve" && said.newContent === undefined ? edit : undefined;
  return { approval: id, revision, fingerprint, by: parts.by, ...changed, ...said };
}

/** Returns the same content, unless the edited request would now do something else. */
async function recheckEdit(
  { parts: { edit: editor }, asked, signal }: AskedApproval,
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
async function editRequest(
  { parts: { edit: editor }, asked, signal }: AskedApproval,
  sheet: CardContent,
  outcome: EditOutcome,
): Promise<CardContent> {
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

type EditOutcome = Exclude<CardOutcome, { readonly answer: unknown }>;

/** Resolves with undefined if the approval was answered or closed elsewhere. */
function showCard(
  { parts: { stack, edit, placeOf, discard }, asked, signal, place }: AskedApproval,
  sheet: CardContent,
): Promise<CardOutcome | undefined> {
  const { approval } = sheet;
  const means: CardMeans = {
    editable: edit?.editable(asked),
    editor: edit?.hasEditor() === true,
    discards: discard !== undefined && appliesProposal(asked),
    ...(sheet.edit && { original: asked }),
  };
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(undefined);
    const card = approvalCard(approval, means);
    let state = card.begin(sheet.beginning);
    let isOver = false;
    const end = (outcome: CardOutcome | undefined): void => {
      isOver = true;
      signal.removeEventListener("abort", withdrawn);
      resolve(outcome);
    };
    const withdrawn = (): void => end(undefined);
    const item: StackedCard = {
      id: approval.id,
      title: oneLine(approvalTitle(approval)),
      call: { session: asked.sessionId, place: () => placeOf?.(asked) },
      view: (canvas) => card.view(state, canvas),
      shown: (canvas) => {
        state = card.shown(state, canvas);
      },
      press: (key, size) => {
        if (isOver) return;
        const pressed = card.key(state, key, size);
        state = pressed.state;
        if (pressed.outcome) end(pressed.outcome);
      },
    };
    place.leave = stack.put(item, place.item);
    place.item = item;
    signal.addEventListener("abort", withdrawn, { once: true });
  });
}
