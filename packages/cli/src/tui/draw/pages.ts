import type { Canvas } from "./dialog.ts";

/** Something long, piece by piece: only what is shown is drawn. */
export type Pages = {
  /** How many pieces there are. */
  readonly count: number;
  /** One piece in rows that fit the canvas's columns. */
  readonly draw: (piece: number, canvas: Canvas) => readonly string[];
};

/** A place in it: a row of a piece. */
export type Position = { readonly piece: number; readonly row: number };

/** Its beginning. */
export const START: Position = { piece: 0, row: 0 };

/** As many rows as the canvas has, from a place on, and the place after them. */
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

/** The place a page earlier. */
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

/** How far a text was read: it is shown from `at`, and everything before `seen` was on the screen at the width `seenAt` (0: nothing yet). */
export type ReadProgress = { readonly at: Position; readonly seen: Position; readonly seenAt: number };

/**
 * Converts a reading to another width, where lines break differently. A text that was read to its end stays read. Otherwise only pieces that were seen whole
 * count, and none in a layout with other pieces. The text is never shown from after `seen`, so that paging always leads to the end.
 */
export function convertProgress(reading: ReadProgress, columns: number, pagesAt: (columns: number) => Pages): ReadProgress {
  const { at, seen, seenAt } = reading;
  if (seenAt === columns || seenAt === 0) return reading;
  const [before, now] = [pagesAt(seenAt), pagesAt(columns)];
  const counted = isEnd(before, seen) ? { piece: now.count, row: 0 } : before === now ? { piece: seen.piece, row: 0 } : START;
  const shown = before === now ? { piece: at.piece, row: 0 } : START;
  return { at: isBefore(counted, shown) ? counted : shown, seen: counted, seenAt: columns };
}

/** True where one place comes before another. */
export function isBefore(left: Position, right: Position): boolean {
  return left.piece < right.piece || (left.piece === right.piece && left.row < right.row);
}

/** True where nothing comes after. */
export function isEnd({ count }: Pages, { piece }: Position): boolean {
  return piece >= count;
}
