import assert from "node:assert/strict";
import { test } from "node:test";
import { oneLine, visible } from "../../../src/model/text/visible-text.ts";

const SHOWN: readonly (readonly [string, string, string])[] = [
  ["plain words stay", "rm -rf build", "rm -rf build"],
  ["a line break and a tab stay", "a\n\tb", "a\n\tb"],
  ["an escape character is written out", "\u001b[31m", "\\x1b[31m"],
  ["a NUL has two digits", "a\u0000b", "a\\x00b"],
  ["a bell has two digits", "\u0007", "\\x07"],
  ["a carriage return is named", "a\rb", "a\\rb"],
  ["a character of C1 is written out", "\u009b", "\\x9b"],
  ["a change of direction is written out", "a\u202eb", "a\\u{202e}b"],
  ["a space without width is written out", "a\u200bb", "a\\u{200b}b"],
  ["a tag character is written out", "\u{e0041}", "\\u{e0041}"],
];

for (const [name, text, shown] of SHOWN) {
  test(name, () => assert.equal(visible(text), shown));
}

test("on one line a break and a tab are written out, too", () => {
  assert.equal(oneLine("a\n\tb\u001bc"), "a\\n\\tb\\x1bc");
});
