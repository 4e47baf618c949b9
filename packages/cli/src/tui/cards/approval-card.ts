import type { Answer, OpenApproval } from "@assent/core";
import { applyHunks } from "@assent/core/parts";
import { headingOf } from "../../desk/approvals/view.ts";
import { cut, displayWidth, wrapWords } from "../../io/display-width.ts";
import { oneLine } from "../../io/visible-text.ts";
import type { Canvas, Dialog, Key, Size } from "../draw/dialog.ts";
import {
  convertProgress,
  isBefore,
  isEnd,
  type Pages,
  type Position,
  pageBefore,
  pageFrom,
  type ReadProgress,
  START,
} from "../draw/pages.ts";
import { makeTheme } from "../draw/theme.ts";
import { actionLines, actionRows } from "./action-lines.ts";
import { type CardAction, type CardMeans, cardActions, cardNotes, rootWords } from "./actions.ts";
import { approvalDiff, cardBody } from "./body.ts";
import { type CardField, cardField, cardFieldLines, pressField, refusal } from "./field.ts";

/** What the person chose: an answer, their editor, or a changed command. The last two lead to a new card. */
export type CardOutcome =
  | { readonly answer: Omit<Answer, "approval" | "revision" | "fingerprint" | "by"> & { readonly discard?: true } }
  | { readonly wants: "editor"; readonly draft?: string }
  | { readonly command: string };

/** The state of a card. */
export type CardState = ReadProgress & {
  /** Index of the selected answer; -1 if none is. */
  readonly chosen: number;
  readonly field: CardField | undefined;
  readonly folded: ReadonlySet<number>;
  /** The hunks to apply, while choosing them. */
  readonly hunks: ReadonlySet<number> | undefined;
  readonly hunkAt: number;
  /** Stray text was typed: letters select nothing until Esc or an arrow key. After Enter (`sent`) a letter typed on its own selects again. */
  readonly text: "none" | "typed" | "sent";
  /** Why the last key did nothing. */
  readonly hint: string;
};

/** The hint and the draft a card starts with after a failed edit. */
export type CardBeginning = { readonly hint?: string; readonly draft?: string };

/** A card for an approval. */
export type ApprovalCard = Dialog<CardState, CardOutcome> & {
  readonly begin: (beginning?: CardBeginning) => CardState;
  /** Marks what this canvas showed as seen. */
  readonly shown: (state: CardState, canvas: Canvas) => CardState;
};

/** Creates the card of a request. Approving needs all of it to have been on the screen. */
export function approvalCard(approval: OpenApproval, means: CardMeans): ApprovalCard {
  const diff = approvalDiff(approval);
  const hunks = diff.length === 1 ? (diff[0]?.hunks.length ?? 0) : 0;
  const actions = cardActions(approval, means, hunks);
  const notes = cardNotes(
    approval,
    means,
    actions.some(({ does }) => does.type === "command"),
  );
  const card: Card = { approval, means, diff, actions, notes, body: cardBody(approval, diff, means.original) };
  return {
    begin: ({ hint = "", draft } = {}) => ({
      at: START,
      seen: START,
      seenAt: 0,
      chosen: -1,
      field: draft === undefined ? undefined : cardField("command", draft),
      folded: new Set(),
      hunks: undefined,
      hunkAt: 0,
      text: "none",
      hint,
    }),
    shown: (state, canvas) => markShown(card, fitToWidth(card, state, canvas), canvas),
    view: (state, canvas) => view(card, fitToWidth(card, state, canvas), canvas),
    key: (state, key, size) => press(card, { ...fitToWidth(card, state, size), hint: "" }, { key, size }),
  };
}

function fitToWidth(card: Card, state: CardState, { columns }: Pick<Size, "columns">): CardState {
  return { ...state, ...convertProgress(state, columns, (width) => bodyOf(card, state, width)) };
}

const PLAIN = makeTheme("none");

type Card = {
  readonly approval: OpenApproval;
  readonly means: CardMeans;
  readonly notes: readonly string[];
  readonly diff: ReturnType<typeof approvalDiff>;
  readonly body: ReturnType<typeof cardBody>;
  readonly actions: readonly CardAction[];
};
type CardKeyResult = ReturnType<ApprovalCard["key"]>;

/** Rows besides the body: title, count of hidden lines, hints. */
const FURNITURE = 4;

function bodyRows({ actions, notes }: Card, size: Size): number {
  return Math.max(1, size.rows - FURNITURE - actionRows(actions, notes, size));
}

function bodyOf({ body }: Card, { folded, hunks }: CardState, columns: number): Pages {
  return body({ folded, chosen: hunks }, columns);
}

/** The visible part of the body. A single hidden row is shown instead of being counted. */
function pageOf(card: Card, state: CardState, canvas: Canvas): ReturnType<typeof pageFrom> & { readonly pages: Pages } {
  const pages = bodyOf(card, state, canvas.columns);
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
  const { next } = pageOf(card, state, canvas);
  const { seen } = state;
  const isNextToIt = !isBefore(seen, state.at);
  return { ...state, seenAt: canvas.columns, seen: isNextToIt && isBefore(seen, next) ? next : seen };
}

function isAllSeen(card: Card, state: CardState, { columns }: Pick<Size, "columns">): boolean {
  return state.folded.size === 0 && state.seenAt === columns && isEnd(bodyOf(card, state, columns), state.seen);
}

function view(card: Card, state: CardState, canvas: Canvas): readonly string[] {
  const { approval } = card;
  const { columns, theme } = canvas;
  const asks = card.means.isProposal ? "Apply this change?" : "Approval needed:";
  const title = `${approval.agentName === undefined ? "" : `${oneLine(approval.agentName)}: `}${oneLine(headingOf(approval))}`;
  const { pages, lines, next } = pageOf(card, state, canvas);
  const hidden = pages.count - Math.min(pages.count, next.piece);
  const more = hidden > 0 ? `… ${hidden} more ${hidden === 1 ? "line" : "lines"}: press PgDn or Space` : "";
  const open = isAllSeen(card, seenOn(card, state, canvas), canvas);
  return [
    headLine(`${asks} ${title}`, approval.id, canvas),
    ...lines,
    ...(more === "" ? [] : [theme.warning(cut(more, columns))]),
    "",
    ...(state.field
      ? cardFieldLines(state.field, card.means.editor, canvas)
      : actionLines(card, { chosen: card.actions[state.chosen], open }, canvas)),
    ...(state.hint === "" ? [] : wrapWords(state.hint, columns).map(theme.warning)),
  ];
}

/** The id is left out where it would take the place of what is asked. */
function headLine(text: string, id: string, { columns, theme }: Canvas): string {
  const room = columns - id.length - 2;
  if (room < LEAST_HEAD && displayWidth(text) > room) return theme.title(cut(text, columns));
  return `${theme.title(cut(text, room))}  ${theme.dim(id)}`;
}

const LEAST_HEAD = 40;

type CardPress = { readonly key: Key; readonly size: Size };

function press(card: Card, state: CardState, { key, size }: CardPress): CardKeyResult {
  if (state.field) return typeInto(card, state, { field: state.field, key });
  if (!("name" in key)) return { state: { ...state, hint: "Pasted text is not an answer here." } };
  if (key.name === "escape") return { state: { ...state, chosen: -1, text: "none", hint: "Nothing is selected." } };
  const at = card.actions.findIndex((action) => action.key === key.name);
  if (at !== -1) return chooseByLetter(card, state, { at, size, alone: key.alone === true });
  const named = { name: key.name, size };
  return move(card, state, named) ?? confirm(card, state, named);
}

const TYPING = "Nothing is selected: you can't type text here. Press Esc and then one letter, or use the arrow keys; then press Enter.";

type LetterPress = { readonly at: number; readonly size: Size; readonly alone: boolean };

/** A letter selects only if it is not part of typed words. A second letter selects if it comes alone. */
function chooseByLetter(card: Card, state: CardState, { at, size, alone }: LetterPress): CardKeyResult {
  const isSecond = state.text === "sent" || (state.chosen !== -1 && state.chosen !== at);
  if (state.text === "typed" || (isSecond && !alone)) return { state: { ...state, chosen: -1, text: "typed", hint: TYPING } };
  return { state: { ...state, chosen: at, text: "none", hint: hintAt(card, { ...state, chosen: at }, size) } };
}

/** What Enter will do, or what is missing before it can. */
function hintAt(card: Card, state: CardState, size: Size): string {
  const action = card.actions[state.chosen];
  if (!action?.approves || isAllSeen(card, state, size)) return hintFor(action);
  return state.folded.size > 0 ? UNFOLD_FIRST : `${whyNotYet(card, state, size)} Then Enter: ${action.says}`;
}

function hintFor(action: CardAction | undefined): string {
  if (!action?.rules) return action === undefined ? "" : `Enter: ${action.says}`;
  const root = rootWords(action.rules);
  return `Enter allows it and saves this rule: ${action.rules.map(oneLine).join(", ")}${root === "" ? "" : ` (${root})`}`;
}

type NamedKey = { readonly name: string; readonly size: Size };

function move(card: Card, state: CardState, { name, size }: NamedKey): CardKeyResult | undefined {
  const { columns } = size;
  const pages = bodyOf(card, state, columns);
  const canvas = { columns, rows: bodyRows(card, size), theme: PLAIN };
  const turned = MOVES[name]?.({ pages, at: state.at, canvas, next: pageOf(card, state, { ...size, theme: PLAIN }).next });
  if (turned) return { state: { ...state, at: turned } };
  const step = name === "up" ? -1 : name === "down" ? 1 : 0;
  if (step !== 0) {
    const chosen = (state.chosen + step + card.actions.length + (state.chosen < 0 && step < 0 ? 1 : 0)) % card.actions.length;
    return { state: { ...state, chosen, text: "none", hint: hintAt(card, { ...state, chosen }, size) } };
  }
  return hunkKey(card, state, name);
}

function hunkKey({ diff }: Card, state: CardState, name: string): CardKeyResult | undefined {
  const count = diff[0]?.hunks.length ?? 0;
  if (name === "f" && diff.length > 0)
    return { state: { ...state, at: START, seen: START, folded: state.folded.size > 0 ? new Set() : new Set(diff.keys()) } };
  if (!state.hunks) return undefined;
  if (name === "left" || name === "right") {
    const hunkAt = (state.hunkAt + (name === "left" ? count - 1 : 1)) % count;
    return {
      state: {
        ...state,
        hunkAt,
        hint: `Hunk ${hunkAt + 1} of ${count}. Tab includes or excludes it; y, then Enter, applies those marked [x].`,
      },
    };
  }
  if (name !== "tab") return undefined;
  const hunks = new Set(state.hunks);
  if (!hunks.delete(state.hunkAt)) hunks.add(state.hunkAt);
  return { state: { ...state, hunks, hint: `${hunks.size} of ${count} hunks will be applied.` } };
}

const MORE_TO_SEE = "There is more to read first: press PgDn or Space.";
const UNFOLD_FIRST = "There is more to read first: press f to unfold it.";

function whyNotYet(card: Card, state: CardState, size: Size): string {
  const isSmall = isTooHigh(card, { ...state, chosen: -1, hint: "" }, { ...size, theme: PLAIN });
  return isSmall ? "This terminal is too small to show the request. Make it larger first." : MORE_TO_SEE;
}

const CHOOSE_FIRST = "Select an answer first, with its letter or the arrow keys. Then press Enter.";

function confirm(card: Card, state: CardState, { name, size }: NamedKey): CardKeyResult {
  if (name !== "enter")
    return { state: { ...state, chosen: -1, text: "typed", hint: `'${cut(oneLine(name), 20)}' is not an answer here. ${TYPING}` } };
  const action = card.actions[state.chosen];
  if (!action) return { state: { ...state, text: state.text === "typed" ? "sent" : state.text, hint: CHOOSE_FIRST } };
  if (action.approves && !isAllSeen(card, state, size)) return { state: { ...state, chosen: -1, hint: whyNotYet(card, state, size) } };
  return act(card, { ...state, chosen: -1 }, action);
}

function act({ diff, approval }: Card, state: CardState, { does }: CardAction): CardKeyResult {
  switch (does.type) {
    case "answer": {
      const newContent = partialContent(approval, diff, state.hunks);
      return { state, outcome: { answer: { ...does.answer, ...(newContent !== undefined && { newContent }) } } };
    }
    case "reason":
      return { state: { ...state, field: cardField(does.discards ? "discard" : does.interrupt ? "stop" : "no") } };
    case "command":
      return { state: { ...state, field: cardField("command", does.text) } };
    case "edit":
      return { state, outcome: { wants: "editor" } };
    default: {
      const all = new Set(diff[0]?.hunks.keys() ?? []);
      return {
        state: {
          ...state,
          hunks: all,
          hunkAt: 0,
          hint: "Left and Right move between hunks, Tab includes or excludes one; y, then Enter, approves.",
        },
      };
    }
  }
}

/** Undefined if all hunks are chosen. */
function partialContent({ details }: OpenApproval, diff: Card["diff"], hunks: ReadonlySet<number> | undefined): string | undefined {
  const [file] = diff;
  if (!hunks || !file || details.type !== "edit" || hunks.size === file.hunks.length) return undefined;
  return applyHunks(details.originalContent ?? "", file, hunks);
}

type FieldPress = { readonly field: CardField; readonly key: Key };

function typeInto({ approval }: Card, state: CardState, { field, key }: FieldPress): CardKeyResult {
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

type Moving = { readonly pages: Pages; readonly at: Position; readonly next: Position; readonly canvas: Canvas };

/** Goes a page forward; the last page is a full one. */
const forward = ({ pages, at, next, canvas }: Moving): Position => {
  if (isEnd(pages, next)) return at;
  const last = pageBefore(pages, { piece: pages.count, row: 0 }, canvas);
  return isBefore(last, next) ? last : next;
};

const MOVES: Readonly<Record<string, (moving: Moving) => Position>> = {
  pageDown: forward,
  space: forward,
  pageUp: ({ pages, at, canvas }) => pageBefore(pages, at, canvas),
  home: () => START,
};
