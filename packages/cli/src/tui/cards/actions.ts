import type { Answer, EffectOffer, OpenApproval, Remember } from "@assent/core";
import { ALLOW_CONFINED } from "../../desk/approvals/confined-offer.ts";
import type { EditableKind } from "../../desk/approvals/editor.ts";
import { ruleOffers, whyNotRemembered } from "../../desk/approvals/remember.ts";
import type { ReviewedChange } from "../../desk/proposals/review.ts";
import { oneLine } from "../../io/visible-text.ts";
import { isShort } from "./field.ts";

export type CardAction = {
  readonly key: string;
  readonly says: string;
  /** The rules it would save. */
  readonly rules?: readonly string[];
  /** What it would write to a settings file, in words. */
  readonly writes?: string;
  /** Needs the whole request to have been shown. */
  readonly approves: boolean;
  readonly does:
    | {
        readonly type: "answer";
        readonly answer: Pick<Answer, "outcome" | "remember" | "mode" | "write"> & { readonly allowConfined?: true };
      }
    | { readonly type: "reason"; readonly interrupt: boolean; readonly discards?: true }
    | { readonly type: "command"; readonly text: string }
    | { readonly type: "edit" }
    | { readonly type: "hunks" };
};

export type CardMeans = {
  readonly editable: EditableKind | undefined;
  readonly editor: boolean;
  /** The card shows a previewed change, not a call. */
  readonly isProposal?: boolean;
  /** The changed files, if the card shows any set of file changes. */
  readonly review?: readonly ReviewedChange[];
  /** Rejecting can also discard the change that the call would apply. */
  readonly discards?: boolean;
  /** The settings file that changes if the person stops being asked about confined commands; absent if that is not offered. */
  readonly allowConfinedIn?: string | undefined;
  /** What the model proposed, if the person edited it. */
  readonly original?: OpenApproval;
};

/** How many files and hunks can be chosen, and whether they are being chosen now. */
export type CardChoice = { readonly parts: number; readonly isChoosing: boolean };

/** The answers for this request. None is preselected. */
export function cardActions(approval: OpenApproval, means: CardMeans, { parts, isChoosing }: CardChoice): readonly CardAction[] {
  const { details } = approval;
  const what = (means.review?.length ?? 1) > 1 ? "files and hunks" : "hunks";
  const says = `Choose which ${what} to ${details.effect?.state === "shown" ? "write" : "apply"}`;
  const choose: readonly CardAction[] =
    parts > 1 && means.editable !== "input" ? [{ key: "h", says, approves: false, does: { type: "hunks" } }] : [];
  if (means.isProposal) return [approve("y", "Apply this change"), ...editActions(approval, means), ...choose, DISCARD];
  if (details.type === "plan") return [...planActions(details.prePlanMode), ...REFUSALS];
  if (details.effect?.state === "shown") return [...effectActions(details.effect, means.review ? choose : [], isChoosing), ...REFUSALS];
  return [
    approve("y", "Allow once"),
    ...(details.effect?.state === "offered" ? [previewAction("Show me what it would do, on a copy")] : []),
    ...(means.allowConfinedIn === undefined ? [] : [allowConfinedAction(means.allowConfinedIn)]),
    ...ruleOffers(approval).map(({ key, says, scope, rules }) => approve(key, says, { scope, rules })),
    ...editActions(approval, means),
    ...choose,
    ...REFUSALS,
    ...(means.discards ? [{ ...DISCARD, says: "No, and discard the change" }] : []),
  ];
}

function allowConfinedAction(file: string): CardAction {
  return {
    ...{ key: "c", says: ALLOW_CONFINED, approves: true },
    writes: `"allowConfined": true in ${oneLine(file)}`,
    does: { type: "answer", answer: { outcome: "approve", allowConfined: true } },
  };
}

function previewAction(says: string): CardAction {
  return { key: "v", says, approves: false, does: { type: "answer", answer: { outcome: "preview" } } };
}

/** After a preview, yes writes what was shown, or what is chosen of it. It runs the command only if that is not possible. */
function effectActions(
  { id, changes, unwritable }: Extract<EffectOffer, { readonly state: "shown" }>,
  choose: readonly CardAction[],
  isChoosing: boolean,
): readonly CardAction[] {
  const again = previewAction("Run it on a copy again");
  if (unwritable !== undefined) return [approve("y", "Run the command now, for real"), again];
  const all = changes.length === 0 ? "Use this result; do not run it again" : "Write these changes; do not run it again";
  const says = isChoosing ? "Write only what is chosen" : all;
  return [
    { key: "y", says, approves: true, does: { type: "answer", answer: { outcome: "approve", write: id } } },
    ...choose,
    approve("r", isChoosing ? "Run the whole command for real instead" : "Run the command for real instead"),
    again,
  ];
}

const DISCARD: CardAction = {
  key: "d",
  says: "Discard it, and tell the model why",
  approves: false,
  does: { type: "reason", interrupt: false, discards: true },
};

const REFUSALS: readonly CardAction[] = [
  { key: "n", says: "No, and tell the model why", approves: false, does: { type: "reason", interrupt: false } },
  { key: "x", says: "No, and stop the model", approves: false, does: { type: "reason", interrupt: true } },
];

function approve(key: string, says: string, remember?: Remember): CardAction {
  const answer = { outcome: "approve" as const, ...(remember && { remember }) };
  return { key, says, approves: true, does: { type: "answer", answer }, ...(remember?.rules && { rules: remember.rules }) };
}

const EDIT_WORDS: Readonly<Record<EditableKind, string>> = {
  content: "Edit it first, in your editor",
  command: "Edit the command first, in your editor",
  input: "Edit the input first, in your editor",
};

/** A short command is edited on the card; everything else needs an editor. */
function editActions({ details }: OpenApproval, { editable, editor, review = [] }: CardMeans): readonly CardAction[] {
  const edit = (says: string, does: CardAction["does"]): readonly CardAction[] => [{ key: "e", says, approves: false, does }];
  if (editable === undefined) return [];
  if (review.length > 1 && editor) return edit("Edit a file first, in your editor", { type: "edit" });
  if (editable === "command" && details.type === "exec" && isShort(details.command))
    return edit("Edit the command first", { type: "command", text: details.command });
  return editor ? edit(EDIT_WORDS[editable], { type: "edit" }) : [];
}

/** Explains a leading slash in a rule; empty if no rule has one. */
export function rootWords(rules: readonly string[]): string {
  return rules.some((rule) => FROM_PROJECT.test(rule)) ? "/ = project root" : "";
}

/** Paths in shell rules are real paths, so they are left out. */
const FROM_PROJECT = /^(?!shell\(|bash\()\w+\(\/(?!\/)/i;

function planActions(prePlanMode: string | undefined): readonly CardAction[] {
  const into = (key: string, says: string, mode: string): CardAction => ({
    key,
    says,
    approves: true,
    does: { type: "answer", answer: { outcome: "approve", mode } },
  });
  return [
    into("y", "Yes, start, and ask before each change", "default"),
    into("a", "Yes, start, and allow edits without asking", "auto-edit"),
    ...(prePlanMode === undefined ? [] : [into("b", `Yes, start, and go back to mode ${prePlanMode}`, prePlanMode)]),
  ];
}

export function cardNotes(approval: OpenApproval, { editable, editor, isProposal }: CardMeans, inPlace: boolean): readonly string[] {
  const { effect } = approval.details;
  const why = isProposal || effect?.state === "shown" ? undefined : whyNotRemembered(approval);
  const none = editable !== undefined && !editor && !inPlace;
  return [
    ...(effect?.state === "unavailable" ? [`A preview is not available: ${oneLine(effect.reason)}`] : []),
    ...(why === undefined ? [] : [`"Always allow" is not available: ${why}.`]),
    ...(none ? ["Editing first needs an editor: set VISUAL or EDITOR."] : []),
  ];
}
