import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { markGaps, oneLine, visible } from "../../src/io/visible-text.ts";

describe("text that people read", () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ["clearing the screen is shown, not done", "a\u001b[2Jb", "a\\x1b[2Jb"],
    ["a hyperlink is shown", "\u001b]8;;https://example.test\u0007x", "\\x1b]8;;https://example.test\\x07x"],
    ["carriage return and backspace are shown", "good\rbad\b", "good\\rbad\\x08"],
    ["right-to-left override and isolate are shown", "\u202egnp.\u2066x", "\\u{202e}gnp.\\u{2066}x"],
    ["a zero-width space is shown", "r\u200bm", "r\\u{200b}m"],
    ["a tag character beyond the first plane is shown", "x\u{e0069}", "x\\u{e0069}"],
    ["C1 controls, DEL and the no-break space are shown", "\u009b1m\u007f\u00a0", "\\x9b1m\\x7f\\xa0"],
    ["line and paragraph separators are shown", "a\u2028b\u2029c", "a\\u{2028}b\\u{2029}c"],
    ["a variation selector, a Hangul filler and a byte-order mark are shown", "\ufe0f\u3164\ufeff", "\\u{fe0f}\\u{3164}\\u{feff}"],
    ["a lone surrogate is shown", "\ud800", "\\u{d800}"],
    ["tab, newline and other writing stay", "\ta\nnaïve 日本 🙂", "\ta\nnaïve 日本 🙂"],
  ];
  for (const [name, text, shown] of rows) test(name, () => assert.equal(visible(text), shown));

  test("one line stays one line", () => assert.equal(oneLine("a\nb\tc\u0085"), "a\\nb\\tc\\x85"));

  const hazards: readonly (readonly [string, readonly (readonly [number, number])[]])[] = [
    [
      "C0, DEL and C1 controls but tab and newline",
      [
        [0x00, 0x08],
        [0x0b, 0x1f],
        [0x7f, 0x9f],
      ],
    ],
    [
      "separators and bidi controls",
      [
        [0x2028, 0x2029],
        [0x061c, 0x061c],
        [0x200e, 0x200f],
        [0x202a, 0x202e],
        [0x2066, 0x2069],
      ],
    ],
    [
      "invisible marks",
      [
        [0xad, 0xad],
        [0x34f, 0x34f],
        [0x115f, 0x1160],
        [0x17b4, 0x17b5],
        [0x180b, 0x180f],
        [0x200b, 0x200d],
        [0x2060, 0x2064],
      ],
    ],
    [
      "fillers, selectors and tags",
      [
        [0x3164, 0x3164],
        [0xfe00, 0xfe0f],
        [0xfeff, 0xfeff],
        [0xffa0, 0xffa0],
        [0xe0000, 0xe0fff],
      ],
    ],
    [
      "blanks other than space, tab and newline",
      [
        [0xa0, 0xa0],
        [0x1680, 0x1680],
        [0x2000, 0x200a],
        [0x202f, 0x202f],
        [0x205f, 0x205f],
        [0x3000, 0x3000],
      ],
    ],
  ];
  for (const [name, ranges] of hazards) {
    test(`every one of the ${name} is shown as an escape`, () => {
      for (const [first, last] of ranges) {
        for (let code = first; code <= last; code++) {
          const shown = visible(`a${String.fromCodePoint(code)}b`);
          assert.match(shown, /^a\\(x[0-9a-f]{2}|r|u\{[0-9a-f]+\})b$/, code.toString(16));
        }
      }
    });
  }

  test("300 blanks before a second command are counted", () => assert.equal(markGaps(`ls${" ".repeat(300)}; id`), "ls«300 blanks»; id"));
  test("80 newlines before a second command are counted", () =>
    assert.equal(markGaps(`ls${"\n".repeat(80)}id`), "ls\n«79 empty lines»\nid"));
  test("ordinary indentation and blank lines are left alone", () => {
    const text = `if (x) {\n${" ".repeat(40)}y;\n\n\n}`;
    assert.equal(markGaps(text), text);
  });
});
