import type { Answer, Approver, By, OpenApproval } from "@assent/core";
import { type ApprovalEditor, isEditable } from "../../approval-editor.ts";
import { titleOf } from "../../approval-view.ts";
import { oneLine } from "../../visible-text.ts";
import { approvalCard, type CardOutcome } from "./approval-card.ts";
import type { Desk } from "./desk.ts";

/** What an approver at a desk needs. */
export type CardApproverParts = {
  readonly desk: Desk;
  readonly by: By;
  /** Lets the person change what would be written in their own editor, which has the whole screen meanwhile; absent: they cannot here. */
  readonly edit?: ApprovalEditor;
  /** Something to tell the person. */
  readonly say: (message: string) => void;
};

/** Puts every approval on the desk as a card. */
export function cardApprover(parts: CardApproverParts): Approver {
  return { available: () => true, ask: (approval, signal) => ask(parts, approval, signal) };
}

async function ask(parts: CardApproverParts, asked: OpenApproval, signal: AbortSignal): Promise<Answer | undefined> {
  let approval = asked;
  let newContent: string | undefined;
  for (;;) {
    const outcome = await putUp(parts, approval, signal);
    if (outcome === undefined) return undefined;
    if ("answer" in outcome) return answered(asked, parts.by, { newContent, answer: outcome.answer });
    const edited = await parts.edit?.(approval, signal);
    if (edited && "message" in edited) parts.say(oneLine(edited.message));
    else if (edited) {
      newContent = edited.newContent;
      approval = { ...edited.approval, input: {} }; // what would be written now is the diff, and no longer what the model gave
    }
  }
}

type Said = { readonly newContent: string | undefined; readonly answer: Extract<CardOutcome, { readonly answer: unknown }>["answer"] };

/** What the person made of it in the editor is what a yes is for; hunks chosen after it are chosen from it. */
function answered({ id, revision, fingerprint }: OpenApproval, by: By, { newContent, answer }: Said): Answer {
  const edited = answer.outcome === "approve" && answer.newContent === undefined && newContent !== undefined ? { newContent } : {};
  return { approval: id, revision, fingerprint, by, ...edited, ...answer };
}

/** Undefined: it was answered or closed elsewhere. */
function putUp({ desk, edit }: CardApproverParts, approval: OpenApproval, signal: AbortSignal): Promise<CardOutcome | undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(undefined);
    const card = approvalCard(approval, { editable: edit !== undefined && isEditable(approval) });
    let state = card.begin();
    const end = (outcome: CardOutcome | undefined): void => {
      signal.removeEventListener("abort", withdrawn);
      take();
      resolve(outcome);
    };
    const withdrawn = (): void => end(undefined);
    const take = desk.put({
      id: approval.id,
      title: oneLine(titleOf(approval)),
      view: (canvas) => card.view(state, canvas),
      shown: (canvas) => {
        state = card.shown(state, canvas);
      },
      press: (key, size) => {
        const pressed = card.key(state, key, size);
        state = pressed.state;
        if (pressed.outcome) end(pressed.outcome);
      },
    });
    signal.addEventListener("abort", withdrawn, { once: true });
  });
}
