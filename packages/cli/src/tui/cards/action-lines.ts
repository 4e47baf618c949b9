import { ruleWords } from "../../desk/grants/remembered-rule.ts";
import { cut, wrapWords } from "../../io/display-width.ts";
import type { Canvas, Size } from "../draw/dialog.ts";
import { type CardAction, rootWords } from "./actions.ts";

/** The selected answer, and whether approving is possible yet. */
export type AnswerChoice = { readonly chosen: CardAction | undefined; readonly open: boolean };

/** With fewer rows, the "always" answers share one row, so that more of the request is visible. */
const ROOMY = 30;
const MANY = 7;
/** With fewer rows left, all answers share one row. */
const LEAST_REST = 9;

function actionsInOneRow(actions: readonly CardAction[], { rows }: Size): readonly CardAction[] {
  const remembering = rows < ROOMY && actions.length > MANY ? actions.filter(({ rules }) => rules !== undefined) : [];
  return rows - (actions.length - remembering.length) < LEAST_REST ? actions : remembering;
}

export function actionRows(actions: readonly CardAction[], notes: readonly string[], size: Size): number {
  return actions.length - Math.max(0, actionsInOneRow(actions, size).length - 1) + shownNotes(notes, size).length;
}

/** With fewer rows, notes are left out; with a few more, each has one line. */
const NOTES_FROM = 18;
const LEAST_NOTES = 3;
const INDENT = "     ";

function shownNotes(notes: readonly string[], { rows, columns }: Size): readonly string[] {
  if (rows < NOTES_FROM) return [];
  const room = columns - INDENT.length;
  const wrapped = notes.flatMap((note) => wrapWords(note, room));
  const lines = wrapped.length <= rows - NOTES_FROM + LEAST_NOTES ? wrapped : notes.map((note) => cut(note, room));
  return lines.map((line) => `${INDENT}${line}`);
}

export type CardAnswers = { readonly actions: readonly CardAction[]; readonly notes: readonly string[] };

/** Draws the answers, one row each if there is room. The selected one takes the shared row. */
export function actionLines({ actions, notes }: CardAnswers, choosing: AnswerChoice, canvas: Canvas): readonly string[] {
  const shared = actionsInOneRow(actions, canvas);
  const inFront = shared.find((action) => action === choosing.chosen);
  const offered = actions.flatMap((action) => {
    if (!shared.includes(action) || action === inFront) return [actionLine(action, choosing, canvas)];
    return inFront || action !== shared[0] ? [] : [sharedLine(shared, choosing, canvas)];
  });
  return [...offered, ...shownNotes(notes, canvas).map((note) => canvas.theme.dim(note))];
}

function sharedLine(shared: readonly CardAction[], { open }: AnswerChoice, { columns, theme }: Canvas): string {
  const keys = shared.map(({ key }) => key).join(" ");
  const isAll = shared.some(({ rules }) => rules === undefined);
  const line = cut(`  ${keys}  ${isAll ? "press one to read it" : "Always allow; press a letter to see the rule it would save"}`, columns);
  return open || isAll ? line : theme.dim(line);
}

function actionLine(action: CardAction, { chosen, open }: AnswerChoice, { columns, theme }: Canvas): string {
  const { key, says, rules, approves } = action;
  const off = approves && !open;
  const root = rootWords(rules ?? []);
  const rule = rules ? `: ${rules.map(ruleWords).join(", ")}${root === "" ? "" : `  (${root})`}` : "";
  const line = cut(`${action === chosen ? ">" : " "} ${key}  ${says}${rule}${off ? " (once you have seen all of it)" : ""}`, columns);
  if (action === chosen) return theme.selected(line);
  return off ? theme.dim(line) : line;
}
