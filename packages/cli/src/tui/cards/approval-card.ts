import type { Answer, OpenApproval } from "@assent/core";
import type { FileDiff } from "@assent/core/parts";
import { headingOf } from "../../desk/approvals/view.ts";
import { ruleWords } from "../../desk/grants/remembered-rule.ts";
import { cut, displayWidth, wrapWords } from "../../io/display-width.ts";
import { counted, oneLine } from "../../io/visible-text.ts";
import { type ChoiceStop, type ChosenParts, chooseAll, partialContent, partOf } from "../diff/choice.ts";
import type { Canvas, Key, Size } from "../draw/dialog.ts";
import { addSeen, convertProgress, isBefore, isEnd, type Pages, type Position, pageBefore, pageFrom, START } from "../draw/pages.ts";
import { makeTheme } from "../draw/theme.ts";
import { actionLines, actionRows } from "./action-lines.ts";
import { type CardAction, type CardMeans, cardActions, cardNotes, rootWords } from "./actions.ts";
import { approvalDiff, cardBody } from "./body.ts";
import { type CardField, cardField, cardFieldLines, pressField, refusal } from "./field.ts";
import {
  fileInFront,
  moveCursor,
  nextFile,
  previousFile,
  type Reading,
  type ReadText,
  refold,
  startChoosing,
  toggleCursor,
  UNREAD,
} from "./reading.ts";

/** What the person chose: an answer, their editor, or a changed command. The last two lead to a new card. */
export type CardOutcome =
  | { readonly answer: CardAnswer }
  /** `file`: the number of the changed file to edit. */
  | { readonly wants: "editor"; readonly draft?: string; readonly file?: number }
  | { readonly command: string };

export type CardAnswer = Omit<Answer, "approval" | "revision" | "fingerprint" | "by"> & {
  readonly discard?: true;
  /** Stop asking about confined commands, too. */
  readonly allowConfined?: true;
};

export type CardState = Reading & {
  /** Index of the selected answer; -1 if none is. */
  readonly selected: number;
  readonly field: CardField | undefined;
  /** Stray text was typed: letters select nothing until Esc or an arrow key. After Enter (`sent`) a letter typed on its own selects again. */
  readonly text: "none" | "typed" | "sent";
  /** The page was turned and is not on the screen yet. Turning it again would pass over it. */
  readonly isTurned: boolean;
  /** Why the last key did nothing. */
  readonly hint: string;
};

/** The hint and the draft a card starts with after a failed edit. */
export type CardBeginning = { readonly hint?: string; readonly draft?: string };

/** Takes keys until it has an outcome. Its functions are pure; lines never exceed the canvas. */
export type ApprovalCard = {
  readonly view: (state: CardState, canvas: Canvas) => readonly string[];
  readonly key: (state: CardState, key: Key, size: Size) => CardKeyResult;
  readonly begin: (beginning?: CardBeginning) => CardState;
  /** Marks what this canvas showed as seen. */
  readonly shown: (state: CardState, canvas: Canvas) => CardState;
};

/** Creates the card of a request. Approving needs all of it to have been on the screen. */
export function approvalCard(approval: OpenApproval, means: CardMeans): ApprovalCard {
  const isEffect = approval.details.effect?.state === "shown";
  const choosing = means.review && isEffect ? layCard(approval, means, { diff: means.review, isChoosing: true }) : undefined;
  const diff = (isEffect ? undefined : means.review) ?? approvalDiff(approval);
  const plain = { ...layCard(approval, means, { diff, isChoosing: false }), ...(choosing && { choosing }) };
  const cardIn = ({ chosen }: CardState): Card => (chosen && choosing) ?? plain;
  return {
    begin: ({ hint = "", draft } = {}) => ({
      ...UNREAD,
      selected: -1,
      field: draft === undefined ? undefined : cardField("command", draft),
      text: "none",
      isTurned: false,
      hint,
    }),
    shown: (state, canvas) => ({ ...markShown(cardIn(state), fitToWidth(cardIn(state), state, canvas), canvas), isTurned: false }),
    view: (state, canvas) => view(cardIn(state), fitToWidth(cardIn(state), state, canvas), canvas),
    key: (state, key, size) => press(cardIn(state), { ...fitToWidth(cardIn(state), state, size), hint: "" }, key, size),
  };
}

type CardLayout = { readonly diff: readonly FileDiff[]; readonly isChoosing: boolean };

function layCard(approval: OpenApproval, means: CardMeans, { diff, isChoosing }: CardLayout): Card {
  const files = means.review ?? (approval.details.type === "edit" ? diff : []);
  const actions = cardActions(approval, means, { parts: chooseAll(files).size, isChoosing });
  const inPlace = actions.some(({ does }) => does.type === "command");
  return { approval, means, diff, actions, notes: cardNotes(approval, means, inPlace), body: cardBody(approval, diff, means.original) };
}

function fitToWidth(card: Card, state: CardState, { columns }: Pick<Size, "columns">): CardState {
  return { ...state, ...convertProgress(state, columns, (width) => card.body(state, width)) };
}

const PLAIN = makeTheme("none");

type Card = {
  readonly approval: OpenApproval;
  readonly means: CardMeans;
  readonly notes: readonly string[];
  readonly diff: readonly FileDiff[];
  readonly body: ReturnType<typeof cardBody>;
  readonly actions: readonly CardAction[];
  /** The card while parts of a preview are chosen: it shows the files in full. */
  readonly choosing?: Card;
};
type CardKeyResult = { readonly state: CardState; readonly outcome?: CardOutcome };

/** Rows besides the body: title, count of hidden lines, hints. */
const FURNITURE = 4;

function bodyRows({ actions, notes }: Card, size: Size): number {
  return Math.max(1, size.rows - FURNITURE - actionRows(actions, notes, size));
}

function readText(card: Card, { columns }: Pick<Size, "columns">): ReadText {
  return { files: card.diff, pages: (reading) => card.body(reading, columns) };
}

/** The visible part of the body. A single hidden row is shown instead of being counted. */
function pageOf(card: Card, state: CardState, canvas: Canvas): ReturnType<typeof pageFrom> & { readonly pages: Pages } {
  const pages = card.body(state, canvas.columns);
  const rows = bodyRows(card, canvas);
  const page = pageFrom(pages, state.at, { ...canvas, rows });
  const fuller = isEnd(pages, page.next) ? page : pageFrom(pages, state.at, { ...canvas, rows: rows + 1 });
  return { pages, ...(isEnd(pages, fuller.next) ? fuller : page) };
}

/** A card higher than its room loses its top, so such a frame counts as not shown. */
function isTooHigh(card: Card, state: CardState, canvas: Canvas): boolean {
  return view(card, state, canvas).length > canvas.rows;
}

function markShown(card: Card, state: CardState, canvas: Canvas): CardState {
  return isTooHigh(card, state, canvas) ? state : seenOn(card, state, canvas);
}

function seenOn(card: Card, state: CardState, canvas: Canvas): CardState {
  return { ...state, ...addSeen(state, pageOf(card, state, canvas).next, canvas.columns) };
}

function isAllSeen(card: Card, state: CardState, { columns }: Pick<Size, "columns">): boolean {
  return !state.isList && state.seenAt === columns && isEnd(card.body(state, columns), state.seen);
}

function view(card: Card, state: CardState, canvas: Canvas): readonly string[] {
  const { approval } = card;
  const { columns, theme } = canvas;
  const asks = card.means.isProposal ? "Apply this change?" : "Approval needed:";
  const title = `${approval.agentName === undefined ? "" : `${oneLine(approval.agentName)}: `}${oneLine(headingOf(approval))}`;
  const { pages, lines, next } = pageOf(card, state, canvas);
  const hidden = pages.count - Math.min(pages.count, next.piece);
  const more = hidden > 0 ? moreWords(card, hidden, columns) : "";
  const open = isAllSeen(card, seenOn(card, state, canvas), canvas);
  return [
    headLine(`${asks} ${title}`, approval.id, canvas),
    ...lines,
    ...(more === "" ? [] : [theme.warning(cut(more, columns))]),
    "",
    ...(state.field
      ? cardFieldLines(state.field, card.means.editor, canvas)
      : actionLines(card, { chosen: card.actions[state.selected], open }, canvas)),
    ...(state.hint === "" ? chosenKeys(state, canvas) : wrapWords(state.hint, columns).map(theme.warning)),
  ];
}

const WIDE = 72;

function moreWords({ diff }: Card, hidden: number, columns: number): string {
  const lines = counted(hidden, "more line");
  if (diff.length < 2) return `… ${lines}: press PgDn or Space`;
  return columns < WIDE ? `… ${hidden} more: PgDn, ] skip file, f list` : `… ${lines}: PgDn or Space; ] skips this file, f lists the files`;
}

function chosenKeys({ chosen, field }: CardState, { columns, theme }: Canvas): readonly string[] {
  if (!chosen || field) return [];
  const keys =
    columns < WIDE
      ? "←→ move, Tab in or out, y Enter: apply"
      : "Left, Right: move. Tab: in or out. y, then Enter: apply what is marked [x].";
  return [theme.dim(cut(keys, columns))];
}

/** The id is left out where it would take the place of what is asked. */
function headLine(text: string, id: string, { columns, theme }: Canvas): string {
  const room = columns - id.length - 2;
  if (room < LEAST_HEAD && displayWidth(text) > room) return theme.title(cut(text, columns));
  return `${theme.title(cut(text, room))}  ${theme.dim(id)}`;
}

const LEAST_HEAD = 40;

function press(card: Card, state: CardState, key: Key, size: Size): CardKeyResult {
  if (state.field) return typeInto(card, state, state.field, key);
  if (!("name" in key)) return { state: { ...state, hint: "Pasted text is not an answer here." } };
  if (key.name === "escape") return { state: { ...state, selected: -1, text: "none", hint: "Nothing is selected." } };
  const at = card.actions.findIndex((action) => action.key === key.name);
  if (at !== -1) return chooseByLetter(card, state, { at, size, alone: key.alone === true });
  const named = { name: key.name, size };
  return move(card, state, named) ?? confirm(card, state, named);
}

const TYPING = "Nothing is selected: you can't type text here. Press Esc and then one letter, or use the arrow keys; then press Enter.";

type LetterPress = { readonly at: number; readonly size: Size; readonly alone: boolean };

/** A letter selects only if it is not part of typed words. A second letter selects if it comes alone. */
function chooseByLetter(card: Card, state: CardState, { at, size, alone }: LetterPress): CardKeyResult {
  const isSecond = state.text === "sent" || (state.selected !== -1 && state.selected !== at);
  if (state.text === "typed" || (isSecond && !alone)) return { state: { ...state, selected: -1, text: "typed", hint: TYPING } };
  return { state: { ...state, selected: at, text: "none", hint: hintAt(card, { ...state, selected: at }, size) } };
}

function hintAt(card: Card, state: CardState, size: Size): string {
  const action = card.actions[state.selected];
  if (!action?.approves || isAllSeen(card, state, size)) return `${hintFor(action)}${action?.approves ? skippedWords(state) : ""}`;
  return state.isList ? UNFOLD_FIRST : `${whyNotYet(card, state, size)} Then Enter: ${action.says}`;
}

function skippedWords({ skipped }: CardState): string {
  return skipped.size === 0 ? "" : ` (you skipped ${counted(skipped.size, "file")})`;
}

function hintFor(action: CardAction | undefined): string {
  if (action?.writes !== undefined) return `Enter allows it and writes this setting: ${action.writes}. This is offered only once.`;
  if (!action?.rules) return action === undefined ? "" : `Enter: ${action.says}`;
  const root = rootWords(action.rules);
  return `Enter allows it and saves this rule: ${action.rules.map(ruleWords).join(", ")}${root === "" ? "" : ` (${root})`}`;
}

type NamedKey = { readonly name: string; readonly size: Size };

function move(card: Card, state: CardState, { name, size }: NamedKey): CardKeyResult | undefined {
  const { columns } = size;
  const pages = card.body(state, columns);
  const canvas = { columns, rows: bodyRows(card, size), theme: PLAIN };
  const turned = MOVES[name]?.({
    pages,
    at: state.at,
    seen: state.seen,
    canvas,
    next: pageOf(card, state, { ...size, theme: PLAIN }).next,
  });
  if (turned) return { state: state.isTurned && isBefore(state.at, turned) ? state : { ...state, at: turned, isTurned: true } };
  const step = name === "up" ? -1 : name === "down" ? 1 : 0;
  if (step !== 0) {
    const selected = (state.selected + step + card.actions.length + (state.selected < 0 && step < 0 ? 1 : 0)) % card.actions.length;
    return { state: { ...state, selected, text: "none", hint: hintAt(card, { ...state, selected }, size) } };
  }
  const read = fileKey(card, state, { name, size });
  return read && { state: read };
}

function fileKey(card: Card, state: CardState, { name, size }: NamedKey): CardState | undefined {
  const { diff } = card;
  const text = readText(card, size);
  if (name === "f" && diff.length > 0)
    return { ...state, ...refold(text, state, { isList: !state.isList }), at: START, hint: state.isList ? "" : FOLDED };
  if (diff.length > 1 && state.isList && (name === "]" || name === "[")) return { ...state, hint: FOLDED };
  if (diff.length > 1 && !state.isList && name === "]") return { ...state, ...nextFile(text, state) };
  if (diff.length > 1 && !state.isList && name === "[") return { ...state, ...previousFile(text, state) };
  if (!state.chosen || state.isList) return undefined;
  if (name === "left" || name === "right") {
    const cursor = moveCursor(text, state, name === "left" ? -1 : 1);
    const moved = refold(text, state, { cursor });
    return { ...state, ...moved, at: scrollTo(card, { ...state, ...moved }, size), hint: `${stopWords(diff, cursor)} Tab: in or out.` };
  }
  if (name !== "tab") return undefined;
  const toggled = toggleCursor(text, state);
  return { ...state, ...toggled, hint: countWords(diff, toggled.chosen) };
}

/** Scrolls only if the cursor is not on the page; the last page is a full one. */
function scrollTo(card: Card, state: CardState, size: Size): Position {
  const canvas = { ...size, theme: PLAIN };
  const { pages, next } = pageOf(card, state, canvas);
  const place = { piece: card.body(state, size.columns).placeOf(state.cursor), row: 0 };
  if (!isBefore(place, state.at) && isBefore(place, next)) return state.at;
  const last = pageBefore(pages, { piece: pages.count, row: 0 }, { ...canvas, rows: bodyRows(card, size) });
  return isBefore(last, place) ? last : place;
}

function stopWords(diff: readonly FileDiff[], { file, hunk }: ChoiceStop): string {
  const count = diff[file]?.hunks.length ?? 0;
  const name = oneLine(diff[file]?.name ?? "");
  return hunk === undefined ? `${name}.` : `${diff.length > 1 ? `${name}, hunk` : "Hunk"} ${hunk + 1} of ${count}.`;
}

function countWords(diff: readonly FileDiff[], chosen: ChosenParts | undefined): string {
  const what = diff.length > 1 ? "changes" : "hunks";
  return `${chosen?.size ?? 0} of ${chooseAll(diff).size} ${what} will be applied.`;
}

const MORE_TO_SEE = "There is more to read first: press PgDn or Space.";
const FOLDED = "The files are folded: press f to unfold them.";
const UNFOLD_FIRST = "There is more to read first: press f to unfold it.";

function whyNotYet(card: Card, state: CardState, size: Size): string {
  if (state.isList) return UNFOLD_FIRST;
  const isSmall = isTooHigh(card, { ...state, selected: -1, hint: "" }, { ...size, theme: PLAIN });
  return isSmall ? "This terminal is too small to show the request. Make it larger first." : MORE_TO_SEE;
}

const CHOOSE_FIRST = "Select an answer first, with its letter or the arrow keys. Then press Enter.";

function confirm(card: Card, state: CardState, { name, size }: NamedKey): CardKeyResult {
  if (name !== "enter")
    return { state: { ...state, selected: -1, text: "typed", hint: `'${cut(oneLine(name), 20)}' is not an answer here. ${TYPING}` } };
  const action = card.actions[state.selected];
  if (!action) return { state: { ...state, text: state.text === "typed" ? "sent" : state.text, hint: CHOOSE_FIRST } };
  const without = { ...state, selected: -1 };
  if (action.approves && !isAllSeen(card, state, size)) return { state: { ...without, hint: whyNotYet(card, state, size) } };
  if (action.approves && state.chosen?.size === 0 && takesChoice(card, action)) return { state: { ...without, hint: NOTHING_CHOSEN } };
  return act(card, without, { action, size });
}

const NOTHING_CHOSEN = "Nothing is chosen: include a file or a hunk with Tab, or reject the change.";
const ONLY_ONCE = "A rule can't be saved for a part: choose all of it, or press y.";

/** False for an answer to a preview that writes nothing: the command runs for real, or on a copy again. */
function takesChoice({ approval: { details } }: Card, { does }: CardAction): boolean {
  return details.effect?.state !== "shown" || (does.type === "answer" && does.answer.write !== undefined);
}

type CardAct = { readonly action: CardAction; readonly size: Size };

function act(card: Card, state: CardState, { action, size }: CardAct): CardKeyResult {
  const { diff, approval, means, choosing } = card;
  const { does, rules } = action;
  switch (does.type) {
    case "answer": {
      const part = means.review && takesChoice(card, action) ? partOf(means.review, state.chosen) : undefined;
      if (part && rules) return { state: { ...state, hint: ONLY_ONCE } };
      const newContent = means.review ? undefined : partialContent(approval.details, diff, state.chosen);
      return { state, outcome: { answer: { ...does.answer, ...(newContent !== undefined && { newContent }), ...(part && { part }) } } };
    }
    case "reason":
      return { state: { ...state, field: cardField(does.discards ? "discard" : does.interrupt ? "stop" : "no") } };
    case "command":
      return { state: { ...state, field: cardField("command", does.text) } };
    case "edit":
      return means.review ? editFile(card, state, size) : { state, outcome: { wants: "editor" } };
    default: {
      const started = { ...state, ...startChoosing(readText(card, size), choosing && readText(choosing, size), state) };
      const at = scrollTo(choosing ?? card, started, size);
      return { state: { ...started, at: at === started.at ? at : scrollTo(choosing ?? card, { ...started, at: started.seen }, size) } };
    }
  }
}

/** Edits the file at the cursor, or at the top of the page. */
function editFile(card: Card, state: CardState, size: Size): CardKeyResult {
  const file = fileInFront(readText(card, size), state);
  const { name = "", text } = card.means.review?.[file] ?? {};
  if (!text || text.after === null)
    return { state: { ...state, hint: `${oneLine(name)} can't be edited. Go to another file with ] or [.` } };
  return { state, outcome: { wants: "editor", file } };
}

function typeInto({ approval }: Card, state: CardState, field: CardField, key: Key): CardKeyResult {
  const pressed = pressField(field, key);
  if ("field" in pressed) return { state: { ...state, field: pressed.field } };
  if ("back" in pressed) return { state: { ...state, field: undefined } };
  if ("editor" in pressed) return { state, outcome: { wants: "editor", draft: pressed.editor } };
  const { done } = pressed;
  if (field.for !== "command") return { state, outcome: { answer: refusal(field.for, done) } };
  if (done.trim() === "") return { state: { ...state, hint: "The command is empty. Press Esc to go back." } };
  if (approval.details.type === "exec" && done === approval.details.command)
    return { state: { ...state, field: undefined, hint: "Nothing was changed." } };
  return { state, outcome: { command: done } };
}

type CardMove = {
  readonly pages: Pages;
  readonly at: Position;
  readonly seen: Position;
  readonly next: Position;
  readonly canvas: Canvas;
};

/** Goes a page forward, or back to where reading stopped; the last page is a full one. */
const forward = ({ pages, at, seen, next, canvas }: CardMove): Position => {
  if (isBefore(seen, at)) return seen;
  if (isEnd(pages, next)) return at;
  const last = pageBefore(pages, { piece: pages.count, row: 0 }, canvas);
  return isBefore(last, next) ? last : next;
};

const MOVES: Readonly<Record<string, (move: CardMove) => Position>> = {
  pageDown: forward,
  space: forward,
  pageUp: ({ pages, at, canvas }) => pageBefore(pages, at, canvas),
  home: () => START,
};
