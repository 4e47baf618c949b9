import assert from "node:assert/strict";
import { test } from "node:test";
import { characterHazards } from "../../../src/shell/read/characters.ts";
import { walkBash } from "../../../src/shell/walk/walk.ts";

const point = (code: number): string => String.fromCodePoint(code);

const FOUND: readonly (readonly [name: string, codes: readonly number[], id: string])[] = [
  ["C0 controls", [0x01, 0x07, 0x08, 0x0b, 0x0c, 0x0d, 0x1b, 0x1f], "control_character"],
  ["DEL and C1 controls", [0x7f, 0x80, 0x85, 0x9f], "control_character"],
  ["line and paragraph separators", [0x2028, 0x2029], "hidden_character"],
  ["bidi controls", [0x061c, 0x200e, 0x200f, 0x202a, 0x202e, 0x2066, 0x2069], "hidden_character"],
  [
    "invisible characters",
    [0xad, 0x34f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180b, 0x180f, 0x200b, 0x200d, 0x2060, 0x2064, 0x3164, 0xfe00, 0xfe0f, 0xfeff, 0xffa0],
    "hidden_character",
  ],
  ["tag characters", [0xe0000, 0xe0020, 0xe0fff], "hidden_character"],
  ["blanks that are none to a shell", [0xa0, 0x1680, 0x2000, 0x2007, 0x202f, 0x205f, 0x3000], "hidden_character"],
];

for (const [name, codes, id] of FOUND) {
  test(`${name} are ${id}, anywhere in the text`, () => {
    for (const code of codes) {
      const found = characterHazards(`git log 'a${point(code)}'`);
      assert.deepEqual(
        found.map((hazard) => [hazard.id, hazard.at]),
        [[id, [10, 10 + point(code).length]]],
        code.toString(16),
      );
    }
  });
}

const NONE: readonly (readonly [name: string, text: string])[] = [
  ["plain text with tabs and newlines", "git status\t-s\nls -la | wc '~!@#$%^&*()'"],
  ["letters of other languages", "echo 'grüße, 世界, Привет, 🙂'"],
  ["40 blanks", `a${" ".repeat(40)}b`],
  ["10 empty lines", `a\n${"\n".repeat(10)}b`],
  ["a long gap in quotes", `echo '${" ".repeat(60)}' "${"\t".repeat(60)}"`],
  ["many lines in quotes", `echo '\n${"\n".repeat(30)}x'`],
  ["empty lines here and there", "a\n\n\nb\n\n\nc\n\n\nd\n\n\ne\n\n\nf"],
  ["nothing", ""],
];
for (const [name, text] of NONE) {
  test(`no hazard: ${name}`, () => assert.deepEqual(characterHazards(text), []));
}

const GAPS: readonly (readonly [name: string, text: string])[] = [
  ["41 blanks", `git status${" ".repeat(41)}; id`],
  ["blanks and tabs together", `git status${" \t".repeat(21)}; id`],
  ["11 empty lines", `git status\n${"\n".repeat(11)}id`],
  ["empty lines that hold blanks", `git status\n${" \t\n".repeat(11)}id`],
  ["empty lines at the start", `${"\n".repeat(11)}id`],
  ["after quotes", `echo 'it' "\\"" \\' ${" ".repeat(50)}; id`],
  ["after a quote that does not close", `echo it's ${" ".repeat(50)}; id`],
];
for (const [name, text] of GAPS) {
  test(`a gap hides what follows: ${name}`, () => {
    assert.deepEqual(
      characterHazards(text).map(({ id }) => id),
      ["hidden_character"],
    );
  });
}

test("a hazard is reported for at most 20 characters", () => assert.equal(characterHazards("\u200b".repeat(1_000)).length, 20));

const NAMES: readonly (readonly [text: string, hazards: readonly string[]])[] = [
  ["g\u0456t status", ["confusable"]],
  ["git st\u0430tus", ["confusable"]],
  ["git log -\u00a7", ["confusable"]],
  ["git log --\u043foneline", ["confusable"]],
  ["echo gr\u00fc\u00dfe", []],
];
for (const [text, hazards] of NAMES) {
  test(`letters outside ASCII in a name, subcommand or option: ${JSON.stringify(text)}`, () => {
    assert.deepEqual(
      walkBash(text).commands.flatMap((seen) => seen.hazards.map(({ id }) => id)),
      hazards,
    );
  });
}

test("characters next to the hidden ranges are plain", () => {
  const beside = [0xac, 0xae, 0x34e, 0x350, 0x61b, 0x61d, 0x115e, 0x1161, 0x17b3, 0x17b6, 0x180a, 0x1810, 0x2010, 0x2027, 0x2030];
  const more = [0x3163, 0x3165, 0xfdff, 0xfe10, 0xfefe, 0xff00, 0xff9f, 0xffa1, 0xdffff, 0xe1000];
  for (const code of [...beside, ...more]) assert.deepEqual(characterHazards(`git log 'a${point(code)}'`), [], code.toString(16));
});
