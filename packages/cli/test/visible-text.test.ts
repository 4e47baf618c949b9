import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { markGaps, oneLine, visible } from "../src/visible-text.ts";

describe("text that people read", () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ["S36: clearing the screen is shown, not done", "a\u001b[2Jb", "a\\x1b[2Jb"],
    ["S36: a hyperlink is shown", "\u001b]8;;https://example.test\u0007x", "\\x1b]8;;https://example.test\\x07x"],
    ["S36: carriage return and backspace are shown", "good\rbad\b", "good\\rbad\\x08"],
    ["S36: right-to-left override and isolate are shown", "\u202egnp.\u2066x", "\\u{202e}gnp.\\u{2066}x"],
    ["S36: a zero-width space is shown", "r\u200bm", "r\\u{200b}m"],
    ["S36: a tag character beyond the first plane is shown", "x\u{e0069}", "x\\u{e0069}"],
    ["C1 controls, DEL and the no-break space are shown", "\u009b1m\u007f\u00a0", "\\x9b1m\\x7f\\xa0"],
    ["line and paragraph separators are shown", "a\u2028b\u2029c", "a\\u{2028}b\\u{2029}c"],
    ["a variation selector, a Hangul filler and a byte-order mark are shown", "\ufe0f\u3164\ufeff", "\\u{fe0f}\\u{3164}\\u{feff}"],
    ["a lone surrogate is shown", "\ud800", "\\u{d800}"],
    ["tab, newline and other writing stay", "\ta\nnaïve 日本 🙂", "\ta\nnaïve 日本 🙂"],
  ];
  for (const [name, text, shown] of rows) test(name, () => assert.equal(visible(text), shown));

  test("one line stays one line", () => assert.equal(oneLine("a\nb\tc\u0085"), "a\\nb\\tc\\x85"));

  test("nothing that moves a cursor, hides or reorders survives, for any text", () => {
    const acts = /[^\P{Cc}\t\n]|[\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e0fff}]/u;
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => !acts.test(visible(text)) && !/[\n\t]/.test(oneLine(text))));
  });

  test("S35: 300 blanks before a second command are counted", () =>
    assert.equal(markGaps(`ls${" ".repeat(300)}; id`), "ls«300 blanks»; id"));
  test("S35: 80 newlines before a second command are counted", () =>
    assert.equal(markGaps(`ls${"\n".repeat(80)}id`), "ls\n«79 empty lines»\nid"));
  test("ordinary indentation and blank lines are left alone", () => {
    const text = `if (x) {\n${" ".repeat(40)}y;\n\n\n}`;
    assert.equal(markGaps(text), text);
  });
});
