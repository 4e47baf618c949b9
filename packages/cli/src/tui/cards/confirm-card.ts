import { cut, wrapWords } from "../../io/display-width.ts";
import { counted, oneLine } from "../../io/visible-text.ts";
import type { Canvas, Size } from "../draw/dialog.ts";
import {
  addSeen,
  convertProgress,
  isEnd,
  type Pages,
  type Position,
  pageBefore,
  pageFrom,
  type ReadProgress,
  START,
} from "../draw/pages.ts";
import { makeTheme } from "../draw/theme.ts";
import type { CardStack } from "./stack.ts";

export type YesNoQuestion = {
  readonly title: string;
  /** Must have been shown before a yes; without control characters. */
  readonly lines: readonly string[];
  readonly yes: string;
  readonly no: string;
};

export type ConfirmState = ReadProgress & {
  readonly chosen: "y" | "n" | undefined;
  /** Stray text was typed, so its letters choose nothing. */
  readonly typed: boolean;
  /** Why the last key did nothing. */
  readonly hint: string;
};

/** Rows besides the text: title, count of hidden lines, hint, both answers. */
const FURNITURE = 5;
const PLAIN = makeTheme("none");

export const UNCONFIRMED: ConfirmState = { at: START, chosen: undefined, typed: false, hint: "", seen: START, seenAt: 0 };

/** Asks as a card. Only `y` and Enter after the whole text was shown is a yes. */
export function askYesNo(stack: CardStack, confirming: YesNoQuestion): Promise<boolean> {
  return new Promise((resolve) => {
    let state = UNCONFIRMED;
    const take = stack.put({
      id: confirming.title,
      title: confirming.title,
      cancels: true,
      view: (canvas) => confirmLines(confirming, state, canvas),
      shown: (canvas) => {
        state = markConfirmShown(confirming, state, canvas);
      },
      press: (key, size) => {
        const pressed = pressConfirm(confirming, { ...state, hint: "" }, { name: "text", ...key, size });
        if (typeof pressed !== "boolean") state = pressed;
        else {
          take();
          resolve(pressed);
        }
      },
    });
  });
}

export function confirmLines(confirming: YesNoQuestion, unfitted: ConfirmState, canvas: Canvas): readonly string[] {
  const { columns, theme } = canvas;
  const state = fitToWidth(confirming, unfitted, canvas);
  const pages = pagesOf(confirming);
  const { lines, next } = pageFrom(pages, state.at, room(canvas));
  const left = pages.count - next.piece;
  const more = left > 0 ? [theme.warning(cut(`… ${counted(left, "more line")}: press PgDn or Space`, columns))] : [];
  const option = (key: "y" | "n", says: string): string => {
    const line = cut(`${state.chosen === key ? ">" : " "} ${key}  ${says}`, columns);
    return state.chosen === key ? theme.selected(line) : line;
  };
  const above = [
    theme.title(cut(confirming.title, columns)),
    ...lines,
    ...more,
    state.hint === "" ? "" : theme.warning(cut(state.hint, columns)),
  ];
  const isSmall = above.length + ANSWERS > canvas.rows;
  const isOpen = isAllSeen(confirming, isSmall ? state : seenOn(confirming, state, canvas), canvas);
  const when = isOpen ? "" : isSmall ? " (make the terminal larger first)" : " (once you have seen all of it)";
  return [...above, option("y", `${confirming.yes}${when}`), option("n", confirming.no)];
}

const ANSWERS = 2;

/** Marks what this canvas showed as seen. A frame that did not fit has shown nothing. */
export function markConfirmShown(confirming: YesNoQuestion, state: ConfirmState, canvas: Canvas): ConfirmState {
  const isTooHigh = confirmLines(confirming, state, canvas).length > canvas.rows;
  return isTooHigh ? state : seenOn(confirming, fitToWidth(confirming, state, canvas), canvas);
}

function fitToWidth(confirming: YesNoQuestion, state: ConfirmState, { columns }: Pick<Size, "columns">): ConfirmState {
  const pages = pagesOf(confirming);
  return { ...state, ...convertProgress(state, columns, () => pages) };
}

function seenOn(confirming: YesNoQuestion, state: ConfirmState, canvas: Canvas): ConfirmState {
  const { next } = pageFrom(pagesOf(confirming), state.at, room(canvas));
  return { ...state, ...addSeen(state, next, canvas.columns) };
}

function isAllSeen(confirming: YesNoQuestion, { seen, seenAt }: ConfirmState, { columns }: Pick<Size, "columns">): boolean {
  return seenAt === columns && isEnd(pagesOf(confirming), seen);
}

type ConfirmKey = { readonly name: string; readonly alone?: true; readonly size: Size };

const LEAVING: readonly string[] = ["escape", "ctrl+c"];
const CHOOSING: readonly string[] = ["up", "down", "tab"];

const KEYS = "press y or n, then Enter; Esc means n.";

export function pressConfirm(confirming: YesNoQuestion, unfitted: ConfirmState, { name, alone, size }: ConfirmKey): ConfirmState | boolean {
  const state = fitToWidth(confirming, unfitted, size);
  const { at, chosen, typed } = state;
  if (LEAVING.includes(name)) return false;
  if (name === "enter") return confirmOnEnter(state, isAllSeen(confirming, state, size));
  if ((name === "y" || name === "n") && (!typed || alone)) return { ...state, chosen: name, typed: false };
  if (CHOOSING.includes(name)) return { ...state, chosen: chosen === "y" ? "n" : "y", typed: false };
  const move = MOVES[name];
  if (move) return { ...state, at: move(pagesOf(confirming), at, room({ ...size, theme: PLAIN })) };
  return { ...state, chosen: undefined, typed: true, hint: `'${cut(oneLine(name), 20)}' is not an answer: ${KEYS}` };
}

function confirmOnEnter(state: ConfirmState, isOpen: boolean): ConfirmState | boolean {
  if (state.chosen === "n") return false;
  if (state.chosen === "y") return isOpen || { ...state, hint: "There is more to read first: press PgDn or Space." };
  return { ...state, hint: `Nothing is selected: ${KEYS}` };
}

type Move = (pages: Pages, at: Position, canvas: Canvas) => Position;

const forward: Move = (pages, at, canvas) => {
  const { next } = pageFrom(pages, at, canvas);
  return isEnd(pages, next) ? at : next;
};
const MOVES: Readonly<Record<string, Move>> = { pageDown: forward, space: forward, pageUp: pageBefore, home: () => START };

function room(canvas: Canvas): Canvas {
  return { ...canvas, rows: Math.max(1, canvas.rows - FURNITURE) };
}

function pagesOf({ lines }: YesNoQuestion): Pages {
  return { count: lines.length, draw: (piece, { columns }) => wrapWords(lines[piece] ?? "", columns - 2).map((line) => `  ${line}`) };
}
