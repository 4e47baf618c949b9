import type { Canvas } from "../draw/dialog.ts";
import { isBefore, isEnd, type Pages, type Position, pageBefore, START } from "../draw/pages.ts";

/** Where a body is shown from, and the place after what is shown. */
export type Moving = { readonly pages: Pages; readonly at: Position; readonly next: Position; readonly canvas: Canvas };

/** On by a page, or by as much as is left: the last page is a full one. */
const forward = ({ pages, at, next, canvas }: Moving): Position => {
  if (isEnd(pages, next)) return at;
  const last = pageBefore(pages, { piece: pages.count, row: 0 }, canvas);
  return isBefore(last, next) ? last : next;
};

/** What a key does to the place that is shown. */
export const MOVES: Readonly<Record<string, (moving: Moving) => Position>> = {
  pageDown: forward,
  space: forward,
  pageUp: ({ pages, at, canvas }) => pageBefore(pages, at, canvas),
  home: () => START,
};
