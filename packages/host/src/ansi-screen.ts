import { type AnsiPiece, makeAnsiParser } from "./ansi-parse.ts";
import { type AnsiRun, type AnsiStyle, applyStyle, PLAIN } from "./ansi-style.ts";

/** Terminal output as the lines a terminal would show, without control characters. */
export type AnsiScreen = {
  /** A chunk may end anywhere, even inside a sequence. */
  readonly write: (chunk: string) => void;
  /** The newest lines, at most `max`, without trailing blank lines. */
  readonly lines: (max?: number) => readonly (readonly AnsiRun[])[];
};

const KEPT = 5000;

const WIDEST = 4096;

/** The default terminal height; lines scrolled out cannot be changed anymore. */
const ROWS = 24;

const MARKS = 16;

type Cell = { text: string; readonly style: AnsiStyle };

/** Creates a screen with scrollback and bounded memory. */
export function makeAnsiScreen({ columns = WIDEST, rows = ROWS }: { readonly columns?: number; readonly rows?: number } = {}): AnsiScreen {
  const parse = makeAnsiParser();
  const state: Screen = { lines: [[]], row: 0, column: 0, saved: { row: 0, column: 0 }, style: PLAIN, width: columns, rows };
  return {
    write(chunk) {
      for (const piece of parse(chunk)) applyPiece(state, piece);
    },
    lines(max = KEPT) {
      let end = state.lines.length;
      while (end > 0 && state.lines[end - 1]?.length === 0) end--;
      return state.lines.slice(Math.max(0, end - max, end - KEPT), end).map(runsOf);
    },
  };
}

type Screen = {
  lines: Cell[][];
  row: number;
  column: number;
  saved: { readonly row: number; readonly column: number };
  style: AnsiStyle;
  readonly width: number;
  readonly rows: number;
};

function applyPiece(screen: Screen, piece: AnsiPiece): void {
  if (piece.kind === "text") print(screen, piece.text);
  else if (piece.kind === "control") CONTROLS[piece.code]?.(screen);
  else if (piece.final === "m") {
    if (/^[\d;:]*$/.test(piece.parameters)) screen.style = applyStyle(screen.style, piece.parameters);
  } else SEQUENCES[piece.final]?.(screen, numbersOf(piece.parameters));
}

function print(screen: Screen, text: string): void {
  let line = lineOf(screen);
  for (const character of text) {
    if (character >= FIRST_MARK && combine(line[screen.column - 1], character)) continue;
    if (screen.column >= screen.width) {
      newLine(screen);
      line = lineOf(screen);
    }
    fill(line, screen.column);
    line[screen.column++] = { text: character, style: screen.style };
  }
}

const FIRST_MARK = "\u0300";
const COMBINES = /^[\p{M}\u200d]/u;

function combine(before: Cell | undefined, character: string): boolean {
  if (before === undefined || !COMBINES.test(character)) return false;
  if (before.text.length < MARKS) before.text += character;
  return true;
}

function lineOf(screen: Screen): Cell[] {
  while (screen.lines.length <= screen.row) screen.lines.push([]);
  return screen.lines[screen.row] ?? [];
}

function fill(line: Cell[], to: number): void {
  while (line.length < to) line.push({ text: " ", style: PLAIN });
}

function newLine(screen: Screen): void {
  screen.row++;
  screen.column = 0;
  lineOf(screen);
  if (screen.lines.length <= 2 * KEPT) return;
  const forgotten = screen.lines.length - KEPT;
  screen.lines.splice(0, forgotten);
  screen.row = Math.max(0, screen.row - forgotten);
}

const restore = (screen: Screen): void => goTo(screen, screen.saved.row, screen.saved.column);
const save = (screen: Screen): void => {
  screen.saved = { row: screen.row, column: screen.column };
};

const CONTROLS: Readonly<Record<string, (screen: Screen) => void>> = {
  "\n": newLine,
  "\v": newLine,
  "\f": newLine,
  "\r": (screen) => goTo(screen, screen.row, 0),
  "\b": (screen) => goTo(screen, screen.row, screen.column - 1),
  "\t": (screen) => goTo(screen, screen.row, screen.column + 8 - (screen.column % 8)),
  "\x85": newLine,
  "\x1bE": newLine,
  "\x1bM": (screen) => goTo(screen, screen.row - 1, screen.column),
  "\x1b7": save,
  "\x1b8": restore,
  "\x1bc": (screen) => {
    screen.style = PLAIN;
  },
};

type Move = (screen: Screen, numbers: readonly number[]) => void;

/** Supports moves and erasing, as used for progress bars. */
const SEQUENCES: Readonly<Record<string, Move>> = {
  A: (screen, [count]) => goTo(screen, screen.row - atLeast1(count), screen.column),
  B: (screen, [count]) => goTo(screen, screen.row + atLeast1(count), screen.column),
  C: (screen, [count]) => goTo(screen, screen.row, screen.column + atLeast1(count)),
  D: (screen, [count]) => goTo(screen, screen.row, screen.column - atLeast1(count)),
  E: (screen, [count]) => goTo(screen, screen.row + atLeast1(count), 0),
  F: (screen, [count]) => goTo(screen, screen.row - atLeast1(count), 0),
  G: (screen, [column]) => goTo(screen, screen.row, atLeast1(column) - 1),
  "`": (screen, [column]) => goTo(screen, screen.row, atLeast1(column) - 1),
  H: (screen, [row, column]) => goTo(screen, rowOf(screen, row), atLeast1(column) - 1),
  f: (screen, [row, column]) => goTo(screen, rowOf(screen, row), atLeast1(column) - 1),
  d: (screen, [row]) => goTo(screen, rowOf(screen, row), screen.column),
  J: (screen, [part]) => eraseDisplay(screen, part ?? 0),
  K: (screen, [part]) => eraseLine(lineOf(screen), screen.column, part ?? 0),
  P: (screen, [count]) => {
    lineOf(screen).splice(screen.column, atLeast1(count));
  },
  X: (screen, [count]) => blank(lineOf(screen), screen.column, screen.column + atLeast1(count)),
  s: save,
  u: restore,
};

function topOf({ lines, rows }: Screen): number {
  return Math.max(0, lines.length - rows);
}

function rowOf(screen: Screen, row: number | undefined): number {
  return topOf(screen) + atLeast1(row) - 1;
}

function goTo(screen: Screen, row: number, column: number): void {
  screen.row = Math.min(Math.max(row, 0), topOf(screen) + screen.rows - 1);
  screen.column = Math.min(Math.max(column, 0), screen.width - 1);
}

function eraseLine(line: Cell[], column: number, part: number): void {
  if (part === 0) line.length = Math.min(line.length, column);
  else if (part === 1) blank(line, 0, column + 1);
  else if (part === 2) line.length = 0;
}

function blank(line: Cell[], from: number, to: number): void {
  for (let i = from; i < Math.min(to, line.length); i++) line[i] = { text: " ", style: PLAIN };
}

function eraseDisplay(screen: Screen, part: number): void {
  if (part <= 1) eraseLine(lineOf(screen), screen.column, part);
  const from = part === 0 ? screen.row + 1 : topOf(screen);
  for (const line of screen.lines.slice(from, part === 1 ? screen.row : undefined)) line.length = 0;
}

function numbersOf(parameters: string): readonly number[] {
  return parameters.split(";").map((text) => Math.min(Number.parseInt(text, 10) || 0, 0xffff));
}

/** Zero and a missing parameter count as one. */
function atLeast1(count: number | undefined): number {
  return Math.max(count ?? 0, 1);
}

function runsOf(line: readonly Cell[]): readonly AnsiRun[] {
  const runs: (AnsiStyle & { text: string })[] = [];
  let last: AnsiStyle | undefined;
  for (const { text, style } of line) {
    const run = runs.at(-1);
    if (run && (style === last || isSame(run, style))) run.text += text;
    else runs.push({ ...style, text });
    last = style;
  }
  return runs;
}

const ATTRIBUTES = ["bold", "italic", "underline", "dim", "inverse", "fg", "bg"] as const;

function isSame(a: AnsiStyle, b: AnsiStyle): boolean {
  return ATTRIBUTES.every((name) => a[name] === b[name]);
}
