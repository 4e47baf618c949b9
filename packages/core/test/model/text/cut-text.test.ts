import assert from "node:assert/strict";
import { test } from "node:test";
import { cutText, splitsPair } from "../../../src/model/text/cut-text.ts";

const ROWS: readonly (readonly [sentence: string, text: string, longest: number, cut: string])[] = [
  ["a short text is kept", "abc", 4, "abc"],
  ["a text of just the length is kept", "abcd", 4, "abcd"],
  ["a longer one ends with an ellipsis, which counts", "abcde", 4, "abc…"],
  ["a pair of surrogates is not split", "ab\u{1f600}cd", 4, "ab…"],
  ["one that ends before the cut is kept", "a\u{1f600}bcd", 4, "a\u{1f600}…"],
  ["nothing of the text fits", "abc", 1, "…"],
];
for (const [sentence, text, longest, cut] of ROWS) test(sentence, () => assert.equal(cutText(text, longest), cut));

test("a pair is split in its middle only", () => {
  assert.deepEqual(
    [0, 1, 2, 3, 4].map((at) => splitsPair("a\u{1f600}b", at)),
    [false, false, true, false, false],
  );
  assert.equal(splitsPair("\ud83da", 1), false);
  assert.equal(splitsPair("a\ude00", 1), false);
});
