import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { splitBlanks, splitTolerant } from "../../../src/shell/read/tolerant-split.ts";

/** Commands with their words; a word that only a shell can read is written `<as in the text>`. */
const ROWS: readonly (readonly [sentence: string, text: string, commands: readonly string[]])[] = [
  ["words between blanks", "curl  x\ty", ["curl|x|y"]],
  ["nothing", "", []],
  ["reserved words and assignments are passed over", "if A=1 B+=2 ! curl x; then", ["curl|x"]],
  ["a remark", "a # b; c\nd", ["a", "d"]],
  ["a redirection parts words", "a>b", ["a|b"]],
  ["blanks", "  \t ", []],
  ["operators part commands", "a;b&c|d&&e||f\ng", ["a", "b", "c", "d", "e", "f", "g"]],
  ["brackets part commands", "(a b) c", ["a|b", "c"]],
  ["an escaped blank is part of a word", "a\\ b c", ["a b|c"]],
  ["an escaped operator is part of a word", "a\\;b", ["a;b"]],
  ["a continued line", "a\\\nb", ["ab"]],
  ["a backslash at the end", "a\\", ["a"]],
  ["single quotes", "a 'b;$(c)' d", ["a|b;$(c)|d"]],
  ["double quotes", 'a "b; c" d', ["a|b; c|d"]],
  ["escapes in double quotes", 'a "b\\"c\\\\d\\e"', ['a|b"c\\d\\e']],
  ["an escaped quote does not close", 'a "b\\" c" d', ['a|b" c|d']],
  ["quotes inside a word", "c'ur'l", ["curl"]],
  ["a quote that is not closed", "a 'b c", ["a|b|c"]],
  ["a double quote that is not closed", 'a "b c', ["a|b|c"]],
  ["a variable", "a $b", ["a|<$b>"]],
  ["a variable in quotes", 'a "x$b"', ['a|<"x$b">']],
  ["a pattern", "a *.ts b?c [d]", ["a|<*.ts>|<b?c>|<[d]>"]],
  ["a home", "a ~/b c~", ["a|<~/b>|c~"]],
  ["braces", "a {b,c}", ["a|<{b,c}>"]],
  ["a substitution is a command", "a $(b c)", ["a", "b|c"]],
  ["a substitution in backticks", "a `b c`", ["a", "b|c"]],
  ["a substitution in quotes is one, too", 'a "$(b c)"', ['a|<"$(b c)">', "b|c"]],
];

const shown = (words: ReturnType<typeof splitBlanks>): string =>
  words.map(({ word, value }) => (word.dynamic ? `<${word.text}>` : value)).join("|");

describe("unparsable text is split into commands and words", () => {
  for (const [sentence, text, commands] of ROWS) {
    test(sentence, () => {
      const found = splitTolerant(text).map(shown);
      assert.deepEqual(
        found.filter((one) => one !== ""),
        commands,
      );
    });
  }
});

describe("text is split at blanks only", () => {
  const rows: readonly (readonly [text: string, words: string])[] = [
    ["curl x", "curl|x"],
    ["a;b $(c d)", "a;b|<$(c>|d)"],
    ["'a b' \"c d\"", "a b|c d"],
    ["a\\_b", "a|b"],
    ["", ""],
  ];
  for (const [text, words] of rows) test(text, () => assert.equal(shown(splitBlanks(text)), words));
});
