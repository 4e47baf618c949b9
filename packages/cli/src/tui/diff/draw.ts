import { stripVTControlCharacters } from "node:util";
import { displayWidth } from "@assent/core";
import type { DiffLine } from "@assent/core/parts";
import { wrap } from "../../io/display-width.ts";
import { readable } from "../../io/visible-text.ts";
import type { Canvas } from "../draw/dialog.ts";
import { highlight } from "../draw/highlight.ts";
import type { Role, Theme } from "../draw/theme.ts";
import type { DiffItem } from "./items.ts";
import { type Piece, wordChanges } from "./word-changes.ts";

/** From this width on, both sides are shown next to each other. */
export const SPLIT_COLUMNS = 120;
const NUMBER_COLUMNS = 5;
const LONGEST_LINE = 20_000;

export function drawDiffItem(item: DiffItem, { columns, theme }: Canvas): readonly string[] {
  switch (item.type) {
    case "file": {
      const state = item.isNew ? " new file" : item.isDeleted ? " deleted" : "";
      const counts = `${theme.added(`+${item.added}`)} ${theme.removed(`-${item.removed}`)}${theme.dim(state)}${item.skipped ? theme.warning(" skipped") : ""}`;
      return wrap(`${item.folded ? "▸" : "▾"} ${visibleText(item.name)}`, columns - (item.skipped ? 28 : 20)).map((line, at) =>
        at === 0 ? `${theme.bold(line)}  ${counts}` : theme.bold(line),
      );
    }
    case "note":
      return wrap(visibleText(item.text), columns - 2).map((line) => `  ${theme.warning(line)}`);
    case "hunk":
      return [theme.accent(item.header)];
    case "line":
      return drawLine(item, { columns, theme });
    default:
      return drawPair(item, { columns, theme });
  }
}

type DiffRoom = { readonly columns: number; readonly theme: Theme };

const SIGNS = { same: " ", added: "+", removed: "-" } as const;

function drawLine({ name, line, other }: Extract<DiffItem, { readonly type: "line" }>, { columns, theme }: DiffRoom): readonly string[] {
  const number = `${numberOf(line.old)}${numberOf(line.new)}`;
  return drawSide(name, line, other, { columns: columns - number.length - 1, theme }).map(
    (text, at) => `${theme.dim(at === 0 ? number : " ".repeat(number.length))} ${text}`,
  );
}

function drawPair({ name, left, right }: Extract<DiffItem, { readonly type: "pair" }>, { columns, theme }: DiffRoom): readonly string[] {
  const half = Math.floor((columns - 3) / 2);
  const room = { columns: half - NUMBER_COLUMNS - 1, theme };
  const side = (line: DiffLine | undefined, other: DiffLine | undefined): readonly string[] =>
    line ? drawSide(name, line, other, room) : [];
  const [old, made] = [side(left, right), side(right, left)];
  return Array.from({ length: Math.max(old.length, made.length) }, (_, at) => {
    const cell = (texts: readonly string[], line: DiffLine | undefined, number: number | undefined): string => {
      const text = texts[at] ?? "";
      const lead = at === 0 && line ? numberOf(number) : " ".repeat(NUMBER_COLUMNS);
      return `${theme.dim(lead)} ${text}`;
    };
    const first = cell(old, left, left?.old);
    return `${first}${" ".repeat(Math.max(0, half - widthOf(first)))} ${theme.border("│")} ${cell(made, right, right?.new)}`;
  });
}

function widthOf(painted: string): number {
  return displayWidth(stripVTControlCharacters(painted));
}

function numberOf(number: number | undefined): string {
  return `${number ?? ""}`.padStart(NUMBER_COLUMNS);
}

/** Draws a line with its sign, changed words and syntax highlighted. */
function drawSide(name: string, line: DiffLine, other: DiffLine | undefined, { columns, theme }: DiffRoom): readonly string[] {
  const { kind } = line;
  const sign = kind === "same" ? " " : theme[kind](SIGNS[kind]);
  const pieces = piecesOf(line, kind === "same" ? undefined : other);
  const rows = breakIntoRows(pieces, columns - 2).map(
    (row) => `${sign} ${row.map((piece) => paintPiece(piece, { name, kind, theme })).join("")}`,
  );
  return line.open ? [...rows, theme.dim(`${SIGNS[kind]} (no line break at the end)`)] : rows;
}

function piecesOf({ kind, text }: DiffLine, other: DiffLine | undefined): readonly Piece[] {
  const whole = [{ text: visibleText(text), changed: false }];
  if (!other || text.length > LONGEST_LINE) return whole;
  const changes =
    kind === "removed"
      ? wordChanges(visibleText(text), visibleText(other.text))?.before
      : wordChanges(visibleText(other.text), visibleText(text))?.after;
  return changes ?? whole;
}

function visibleText(text: string): string {
  return readable(text).replaceAll("\n", "\\n");
}

function breakIntoRows(pieces: readonly Piece[], columns: number): readonly (readonly Piece[])[] {
  const rows = wrap(pieces.map(({ text }) => text).join(""), columns);
  const left = pieces.map((piece) => ({ ...piece }));
  return rows.map((row) => {
    const found: Piece[] = [];
    for (let room = row.length; room > 0; ) {
      const piece = left[0];
      if (!piece) break;
      const text = piece.text.slice(0, room);
      found.push({ ...piece, text });
      room -= text.length;
      if (text.length === piece.text.length) left.shift();
      else left[0] = { ...piece, text: piece.text.slice(text.length) };
    }
    return found;
  });
}

function paintPiece(
  { text, changed }: Piece,
  { name, kind, theme }: { readonly name: string; readonly kind: DiffLine["kind"]; readonly theme: Theme },
): string {
  const code = highlight(text, name)
    .map((token) => (token.role ? theme[token.role](token.text) : token.text))
    .join("");
  const word: Role | undefined = !changed || kind === "same" ? undefined : kind === "added" ? "addedWord" : "removedWord";
  return word ? theme[word](code) : code;
}
