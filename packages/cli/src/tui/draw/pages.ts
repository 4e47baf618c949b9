import type { Canvas } from "./dialog.ts";

/** A long text in pieces; only visible pieces are drawn. */
export type Pages = {
  readonly count: number;
  readonly draw: (piece: number, canvas: Canvas) => readonly string[];
};

export type Position = { readonly piece: number; readonly row: number };

export const START: Position = { piece: 0, row: 0 };

/** Draws a page from a position on, and returns the position after it. */
export function pageFrom(pages: Pages, from: Position, canvas: Canvas): { readonly lines: readonly string[]; readonly next: Position } {
  const lines: string[] = [];
  let { piece, row } = from;
  while (piece < pages.count && lines.length < canvas.rows) {
    const drawn = pages.draw(piece, canvas);
    const room = canvas.rows - lines.length;
    lines.push(...drawn.slice(row, row + room));
    if (drawn.length - row > room) return { lines, next: { piece, row: row + room } };
    piece += 1;
    row = 0;
  }
  return { lines, next: { piece, row } };
}

export function pageBefore(pages: Pages, from: Position, canvas: Canvas): Position {
  let { piece, row } = from;
  let room = canvas.rows;
  while (room > row && piece > 0) {
    room -= row;
    piece -= 1;
    row = pages.draw(piece, canvas).length;
  }
  return { piece, row: Math.max(0, row - room) };
}

/** How far a text was read: shown from `at`, seen up to `seen` at the width `seenAt` (0: not yet). */
export type ReadProgress = { readonly at: Position; readonly seen: Position; readonly seenAt: number };

/** The progress after a page up to `next` was shown. It counts only if nothing before it was passed over. */
export function addSeen({ at, seen }: ReadProgress, next: Position, columns: number): Pick<ReadProgress, "seen" | "seenAt"> {
  const isNextToIt = !isBefore(seen, at);
  return { seenAt: columns, seen: isNextToIt && isBefore(seen, next) ? next : seen };
}

/** Converts progress to another width. A text read to its end stays read; otherwise only whole pieces count. `at` never passes `seen`, so that paging reaches everything. */
export function convertProgress(reading: ReadProgress, columns: number, pagesAt: (columns: number) => Pages): ReadProgress {
  const { at, seen, seenAt } = reading;
  if (seenAt === columns || seenAt === 0) return reading;
  const [before, now] = [pagesAt(seenAt), pagesAt(columns)];
  const counted = isEnd(before, seen) ? { piece: now.count, row: 0 } : before === now ? { piece: seen.piece, row: 0 } : START;
  const shown = before === now ? { piece: at.piece, row: 0 } : START;
  return { at: isBefore(counted, shown) ? counted : shown, seen: counted, seenAt: columns };
}

export function isBefore(left: Position, right: Position): boolean {
  return left.piece < right.piece || (left.piece === right.piece && left.row < right.row);
}

export function isEnd({ count }: Pages, { piece }: Position): boolean {
  return piece >= count;
}
