import { cut, wrap } from "../display-width.ts";
import type { Desk } from "./cards/desk.ts";
import type { Canvas } from "./dialog.ts";
import { isEnd, type Pages, type Position, pageBefore, pageFrom, START } from "./pages.ts";
import { themeOf } from "./theme.ts";

/** A question of the program itself that is answered by yes or no. */
export type Confirming = {
  readonly title: string;
  /** What must have been seen before a yes. They hold no control characters. */
  readonly lines: readonly string[];
  readonly yes: string;
  readonly no: string;
};

/** A question as it stands on the screen. */
export type ConfirmState = { readonly at: Position; readonly chosen: "y" | "n" | undefined; readonly seen: boolean };

const FURNITURE = 5;
const PLAIN = themeOf("none");

/** Nothing is chosen, and nothing was seen. */
export const UNCONFIRMED: ConfirmState = { at: START, chosen: undefined, seen: false };

/** Puts the question on the desk. Only `y` and then Enter is a yes, and only when all of it was shown; `n`, or leaving it, is none. */
export function confirm(desk: Desk, confirming: Confirming): Promise<boolean> {
  return new Promise((resolve) => {
    let state = UNCONFIRMED;
    const take = desk.put({
      id: confirming.title,
      title: confirming.title,
      cancels: true,
      view: (canvas) => confirmLines(confirming, state, canvas),
      shown: (canvas) => {
        const isWhole = isEnd(pagesOf(confirming), pageFrom(pagesOf(confirming), state.at, room(canvas)).next);
        state = { ...state, seen: state.seen || isWhole };
      },
      press: (key, size) => {
        const pressed = pressConfirm(confirming, state, { name: "name" in key ? key.name : "", canvas: room({ ...size, theme: PLAIN }) });
        if (typeof pressed !== "boolean") state = pressed;
        else {
          take();
          resolve(pressed);
        }
      },
    });
  });
}

/** The question, as far as there is room. */
export function confirmLines(confirming: Confirming, { at, chosen, seen }: ConfirmState, canvas: Canvas): readonly string[] {
  const { columns, theme } = canvas;
  const pages = pagesOf(confirming);
  const { lines, next } = pageFrom(pages, at, room(canvas));
  const left = pages.count - next.piece;
  const more = left > 0 ? [theme.warning(`… ${left} more lines: PgDn or space shows them`)] : [];
  const option = (key: "y" | "n", says: string): string => {
    const line = cut(`${chosen === key ? ">" : " "} ${key}  ${says}`, columns);
    return chosen === key ? theme.selected(line) : line;
  };
  const yes = `${confirming.yes}${seen || left === 0 ? "" : " (when all of it was shown)"}`;
  return [theme.title(cut(confirming.title, columns)), ...lines, ...more, "", option("y", yes), option("n", confirming.no)];
}

type Pressed = { readonly name: string; readonly canvas: Canvas };

const LEAVING: readonly string[] = ["escape", "ctrl+c"];
const CHOOSING: readonly string[] = ["up", "down", "tab"];

/** The question after a key, or its answer. */
export function pressConfirm(confirming: Confirming, state: ConfirmState, { name, canvas }: Pressed): ConfirmState | boolean {
  const { at, chosen } = state;
  if (LEAVING.includes(name)) return false;
  if (name === "enter") return decided(state);
  if (name === "y" || name === "n") return { ...state, chosen: name };
  if (CHOOSING.includes(name)) return { ...state, chosen: chosen === "y" ? "n" : "y" };
  return { ...state, at: MOVES[name]?.(pagesOf(confirming), at, canvas) ?? at };
}

function decided(state: ConfirmState): ConfirmState | boolean {
  if (state.chosen === "n") return false;
  return state.chosen === "y" && state.seen ? true : state;
}

type Move = (pages: Pages, at: Position, canvas: Canvas) => Position;

const forward: Move = (pages, at, canvas) => {
  const { next } = pageFrom(pages, at, canvas);
  return isEnd(pages, next) ? at : next;
};
const MOVES: Readonly<Record<string, Move>> = { pageDown: forward, space: forward, pageUp: pageBefore, home: () => START };

function room(canvas: Canvas): Canvas {
  return { ...canvas, rows: Math.max(2, canvas.rows - FURNITURE) };
}

function pagesOf({ lines }: Confirming): Pages {
  return { count: lines.length, draw: (piece, { columns }) => wrap(lines[piece] ?? "", columns - 2).map((line) => `  ${line}`) };
}
