import type { Answer, OpenApproval, Remember } from "@assent/core";

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
    | { readonly type: "reason"; readonly interrupt: boolean }
    | { readonly type: "edit" }
    | { readonly type: "hunks" };
};

/** What the desk can do for a card beyond an answer. */
export type CardMeans = {
  /** The person's own editor can be opened. */
  readonly editable: boolean;
};

/** The answers that make sense for this request, the mildest first; none is chosen by itself. */
export function cardActions(approval: OpenApproval, { editable }: CardMeans, hunks: number): readonly CardAction[] {
  const { details } = approval;
  if (details.type === "plan") return [...planActions(details.prePlanMode), ...REFUSALS];
  const edit: CardAction = { key: "e", says: "Edit first, in your editor", approves: false, does: { type: "edit" } };
  const parts: CardAction = { key: "h", says: "Choose some of its hunks", approves: false, does: { type: "hunks" } };
  return [
    approve("y", "Yes, this once"),
    ...rememberActions(approval),
    ...(editable && details.type === "edit" ? [edit] : []),
    ...(hunks > 1 ? [parts] : []),
    ...REFUSALS,
  ];
}

const REFUSALS: readonly CardAction[] = [
  { key: "n", says: "No, and say why", approves: false, does: { type: "reason", interrupt: false } },
  { key: "x", says: "No, and stop the turn", approves: false, does: { type: "reason", interrupt: true } },
];

function approve(key: string, says: string, remember?: Remember): CardAction {
  const answer = { outcome: "approve" as const, ...(remember && { remember }) };
  return { key, says, approves: true, does: { type: "answer", answer }, ...(remember?.rules && { rules: remember.rules }) };
}

/** No grant could answer the next such ask where somebody insists on asking, so "always" is then not offered. */
function rememberActions({ explicitAsk, details, suggestions, tool }: OpenApproval): readonly CardAction[] {
  if (explicitAsk || details.hideAlwaysAllow === true || suggestions.length === 0) return [];
  const remembered = (key: string, says: string, scope: Remember["scope"]): CardAction => approve(key, says, { scope, rules: suggestions });
  const wholeTool =
    details.type === "exec" || tool === "resolve" || suggestions.includes(tool)
      ? []
      : [approve("t", "Yes, and all of this tool in this session", { scope: "session", rules: [tool] })];
  return [
    remembered("s", "Yes, and the like in this session", "session"),
    ...wholeTool,
    remembered("p", "Yes, and the like in this project", "project"),
    remembered("u", "Yes, and the like anywhere, for me", "user"),
  ];
}

function planActions(prePlanMode: string | undefined): readonly CardAction[] {
  const into = (key: string, says: string, mode: string): CardAction => ({
    key,
    says,
    approves: true,
    does: { type: "answer", answer: { outcome: "approve", mode } },
  });
  return [
    into("y", "Yes: begin, and ask before each change", "default"),
    into("a", "Yes, and let edits pass without asking", "auto-edit"),
    ...(prePlanMode === undefined ? [] : [into("b", `Yes, and back to mode ${prePlanMode}`, prePlanMode)]),
  ];
}
