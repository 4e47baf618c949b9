import type { Answer, OpenApproval, Remember } from "@assent/core";
import type { EditableKind } from "../../desk/approvals/editor.ts";
import { wholeToolRule, whyNotRemembered } from "../../desk/approvals/remember.ts";
import { isShort } from "./field.ts";

/** What a person can do with a card. */
export type CardAction = {
  readonly key: string;
  readonly says: string;
  /** A rule that would be stored, shown literally. */
  readonly rules?: readonly string[];
  /** True: needs everything to have been seen. */
  readonly approves: boolean;
  readonly does:
    | { readonly type: "answer"; readonly answer: Pick<Answer, "outcome" | "remember" | "mode"> }
    | { readonly type: "reason"; readonly interrupt: boolean; readonly discards?: true }
    | { readonly type: "command"; readonly text: string }
    | { readonly type: "edit" }
    | { readonly type: "hunks" };
};

/** What the stack can do for a card beyond an answer. */
export type CardMeans = {
  /** What of the request the person can change. */
  readonly editable: EditableKind | undefined;
  /** The person's own editor can be opened. */
  readonly editor: boolean;
  /** The card shows a previewed change that only a person may apply. */
  readonly isProposal?: boolean;
  /** Rejecting can also discard the previewed change that the call would apply. */
  readonly discards?: boolean;
  /** What the model proposed, where this is what the person made of it. */
  readonly original?: OpenApproval;
};

/** The answers that make sense for this request, the mildest first; none is chosen by itself. */
export function cardActions(approval: OpenApproval, means: CardMeans, hunks: number): readonly CardAction[] {
  const { details } = approval;
  if (means.isProposal) return [approve("y", "Apply this change"), DISCARD];
  if (details.type === "plan") return [...planActions(details.prePlanMode), ...REFUSALS];
  const parts: CardAction = { key: "h", says: "Choose which hunks to apply", approves: false, does: { type: "hunks" } };
  return [
    approve("y", "Allow once"),
    ...rememberActions(approval),
    ...editActions(approval, means),
    ...(hunks > 1 && means.editable !== "input" ? [parts] : []),
    ...REFUSALS,
    ...(means.discards ? [{ ...DISCARD, says: "No, and discard the change" }] : []),
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

/** A short command is edited on the card itself; everything else needs an editor. */
function editActions({ details }: OpenApproval, { editable, editor }: CardMeans): readonly CardAction[] {
  const edit = (says: string, does: CardAction["does"]): readonly CardAction[] => [{ key: "e", says, approves: false, does }];
  if (editable === undefined) return [];
  if (editable === "command" && details.type === "exec" && isShort(details.command))
    return edit("Edit the command first", { type: "command", text: details.command });
  return editor ? edit(EDIT_WORDS[editable], { type: "edit" }) : [];
}

/** No grant could answer the next such ask where somebody insists on asking, so "always" is then not offered. */
function rememberActions(approval: OpenApproval): readonly CardAction[] {
  const { explicitAsk, details, suggestions, agentName } = approval;
  if (explicitAsk || details.hideAlwaysAllow === true || suggestions.length === 0) return [];
  const remembered = (key: string, says: string, scope: Remember["scope"]): CardAction => approve(key, says, { scope, rules: suggestions });
  const whole = wholeToolRule(approval);
  const wider = [
    remembered("p", "Always allow this in this project", "project"),
    remembered("u", "Always allow this in all my projects", "user"),
  ];
  return [
    remembered("s", "Always allow this in this session", "session"),
    ...(whole.length > 0 ? [approve("t", "Always allow this tool in this session", { scope: "session", rules: whole })] : []),
    ...(agentName === undefined ? wider : []), // what is said to an agent is remembered for that agent alone
  ];
}

/** Where the paths of these rules begin, in words; empty where none could be taken for a path of the machine. */
export function rootWords(rules: readonly string[]): string {
  return rules.some((rule) => FROM_PROJECT.test(rule)) ? "/ = project root" : "";
}

/** A path, but none of a program: commands are named as the machine names them. */
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

/** What is not offered on a card, and why, in a line each. */
export function cardNotes(approval: OpenApproval, { editable, editor, isProposal }: CardMeans, inPlace: boolean): readonly string[] {
  const why = isProposal ? undefined : whyNotRemembered(approval);
  const none = editable !== undefined && !editor && !inPlace;
  return [
    ...(why === undefined ? [] : [`"Always allow" is not available: ${why}.`]),
    ...(none ? ["Editing first needs an editor: set VISUAL or EDITOR."] : []),
  ];
}
