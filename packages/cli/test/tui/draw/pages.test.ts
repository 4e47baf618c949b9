import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isEnd, type Pages, pageBefore, pageFrom, START } from "../../../src/tui/draw/pages.ts";
import { makeTheme } from "../../../src/tui/draw/theme.ts";

const theme = makeTheme("none");

function pagesOf(heights: readonly number[]): Pages {
  return { count: heights.length, draw: (piece) => Array.from({ length: heights[piece] ?? 0 }, (_, row) => `${piece}.${row}`) };
}

const heights = fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 20 });

test("law: page after page shows every row once, in order, and no page is longer than its rows", () => {
  fc.assert(
    fc.property(heights, fc.integer({ min: 1, max: 12 }), (sizes, rows) => {
      const pages = pagesOf(sizes);
      const canvas = { columns: 10, rows, theme };
      const seen: string[] = [];
      let at = START;
      while (!isEnd(pages, at)) {
        const { lines, next } = pageFrom(pages, at, canvas);
        assert.ok(lines.length <= rows);
        seen.push(...lines);
        assert.notDeepEqual(next, at);
        at = next;
      }
      assert.deepEqual(
        seen,
        sizes.flatMap((size, piece) => Array.from({ length: size }, (_, row) => `${piece}.${row}`)),
      );
    }),
  );
});

test("law: a page back from the end of a page shows that page again", () => {
  fc.assert(
    fc.property(heights, fc.integer({ min: 1, max: 12 }), (sizes, rows) => {
      const pages = pagesOf(sizes.map((size) => Math.max(1, size)));
      const canvas = { columns: 10, rows, theme };
      const first = pageFrom(pages, START, canvas);
      if (first.lines.length < rows) return;
      assert.deepEqual(pageFrom(pages, pageBefore(pages, first.next, canvas), canvas).lines, first.lines);
    }),
  );
});
