import assert from "node:assert/strict";
import { test } from "node:test";
import { splitWords } from "../../src/editor/edit-text.ts";

const ROWS: readonly (readonly [name: string, line: string, words: readonly string[] | undefined])[] = [
  ["one word", "vim", ["vim"]],
  ["arguments", "  code  --wait\t-n ", ["code", "--wait", "-n"]],
  ["single quotes", "'/My Apps/ed' 'a\\b\"c'", ["/My Apps/ed", 'a\\b"c']],
  ["double quotes", `"/My Apps/ed" "a'b" "\\"c\\" \\n"`, ["/My Apps/ed", "a'b", '"c" \\n']],
  ["backslashes", "/My\\ Apps/ed \\'x \\\\", ["/My Apps/ed", "'x", "\\"]],
  ["quotes inside a word, and an empty word", `a'b c'"d"e ''`, ["ab cde", ""]],
  [
    "what is more to a shell is nothing here",
    "ed $HOME ~ *.c; rm `x` > y | z && #",
    ["ed", "$HOME", "~", "*.c;", "rm", "`x`", ">", "y", "|", "z", "&&", "#"],
  ],
  ["nothing", "  ", []],
  ["an open single quote", "a 'b", undefined],
  ["an open double quote", 'a "b\\"', undefined],
  ["a backslash at the end", "a b\\", undefined],
];
for (const [name, line, words] of ROWS) test(`words: ${name}`, () => assert.deepEqual(splitWords(line), words));
