import type { Canvas, Key, Size } from "../draw/dialog.ts";
import { isBefore, type Pages, type Position, pageBefore, pageFrom, START } from "../draw/pages.ts";
import { makeTheme } from "../draw/theme.ts";
import type { Block } from "../transcript/block.ts";
import { drawBlock } from "../transcript/draw-block.ts";
import type { Drawing } from "../transcript/drawing.ts";

export type Reader = {
  readonly view: (canvas: Canvas) => readonly string[];
  /** False if the key closes it. */
  readonly press: (key: Key, size: Size) => boolean;
};

const FURNITURE = 2;
const PLAIN = makeTheme("none");
const CLOSING: readonly string[] = ["escape", "q", "ctrl+o", "ctrl+c"];

/** Opens the reader at the end. */
export function openReader(blocks: readonly Block[], drawing: Omit<Drawing, keyof Canvas | "open">): Reader {
  let at: Position | undefined;
  const drawn = new Map<Block, { readonly columns: number; readonly lines: readonly string[] }>();
  const draw = (piece: number, canvas: Canvas): readonly string[] => {
    const block = blocks[piece];
    if (!block) return [];
    const known = drawn.get(block);
    if (known?.columns === canvas.columns) return known.lines;
    const lines = [...drawBlock(block, { ...drawing, ...canvas, open: true }), ""];
    if (canvas.theme !== PLAIN) drawn.set(block, { columns: canvas.columns, lines });
    return lines;
  };
  const pages: Pages = { count: blocks.length, draw };
  const end = { piece: blocks.length, row: 0 };
  const inner = (canvas: Canvas): Canvas => ({ ...canvas, rows: Math.max(1, canvas.rows - FURNITURE) });
  const last = (canvas: Canvas): Position => pageBefore(pages, end, canvas);
  return {
    view: (canvas) => {
      const room = inner(canvas);
      at ??= last(room);
      const { lines, next } = pageFrom(pages, at, room);
      const left = pages.count - next.piece;
      const hint = `${left > 0 ? `${left} more below · ` : ""}up, down, PgUp, PgDn, home, end · q goes back`;
      return [...lines, ...Array.from({ length: room.rows - lines.length }, () => ""), "", canvas.theme.dim(hint.slice(0, canvas.columns))];
    },
    press: (key, size) => {
      if (!("name" in key)) return true;
      if (CLOSING.includes(key.name)) return false;
      const canvas = inner({ ...size, theme: PLAIN });
      at = moveTo(key.name, { pages, at: at ?? last(canvas), canvas, last: last(canvas) });
      return true;
    },
  };
}

type ReaderMove = { readonly pages: Pages; readonly at: Position; readonly canvas: Canvas; readonly last: Position };

function moveTo(name: string, { pages, at, canvas, last }: ReaderMove): Position {
  const line = { ...canvas, rows: 1 };
  const down = (size: Canvas): Position => {
    const { next } = pageFrom(pages, at, size);
    return isBefore(next, last) ? next : last;
  };
  switch (name) {
    case "up":
    case "k":
      return pageBefore(pages, at, line);
    case "down":
    case "j":
      return down(line);
    case "pageUp":
    case "b":
      return pageBefore(pages, at, canvas);
    case "pageDown":
    case "space":
      return down(canvas);
    case "home":
    case "g":
      return START;
    case "end":
    case "G":
      return last;
    default:
      return at;
  }
}
