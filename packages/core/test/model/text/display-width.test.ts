import assert from "node:assert/strict";
import { test } from "node:test";
import { characterWidth, cutToWidth, displayWidth } from "../../../src/model/text/display-width.ts";

const WIDTHS: readonly (readonly [string, string, number])[] = [
  ["a letter takes one column", "a", 1],
  ["a space takes one column", " ", 1],
  ["the last printable character of ASCII takes one column", "~", 1],
  ["a letter with an accent takes one column", "é", 1],
  ["a combining accent takes none", "\u0301", 0],
  ["a Chinese character takes two columns", "漢", 2],
  ["a Hangul syllable takes two columns", "한", 2],
  ["a full-width letter takes two columns", "Ａ", 2],
  ["a face takes two columns", "\u{1f600}", 2],
  ["a box drawing takes one column", "│", 1],
];

for (const [name, character, width] of WIDTHS) {
  test(name, () => {
    assert.equal(characterWidth(character), width);
    assert.equal(displayWidth(character), width);
    assert.equal(displayWidth(`ab${character}c`), 3 + width);
  });
}

const CUTS: readonly (readonly [string, string, number, string])[] = [
  ["a line that fits stays", "abcd", 4, "abcd"],
  ["a longer line ends with an ellipsis inside the width", "abcde", 4, "abc…"],
  ["a wide character is not split", "漢字漢字", 4, "漢…"],
  ["a wide character that fills the width before the ellipsis stays", "漢字漢字", 5, "漢字…"],
  ["an accent stays with its letter", "e\u0301xyz", 3, "e\u0301x…"],
  ["no column leaves the ellipsis", "abc", 0, "…"],
];

for (const [name, line, columns, cut] of CUTS) {
  test(name, () => assert.equal(cutToWidth(line, columns), cut));
}
