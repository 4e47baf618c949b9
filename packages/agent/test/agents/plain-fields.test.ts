import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { parse } from "yaml";
import { plainFields } from "../../src/agents/plain-fields.ts";

describe("front matter that needs no YAML parser", () => {
  const read: readonly [sentence: string, text: string, expected: object][] = [
    ["a text", "name: explorer", { name: "explorer" }],
    [
      "a sentence",
      "description: Looks, and (mostly) reports it's done; a/b *.",
      { description: "Looks, and (mostly) reports it's done; a/b *." },
    ],
    ["a list of names", "tools: [read, ast_grep, mcp__a*]", { tools: ["read", "ast_grep", "mcp__a*"] }],
    ["a list without spaces", "tools: [read,glob]", { tools: ["read", "glob"] }],
    ["several lines, ended in two ways", "name: a\r\nmode: plan", { name: "a", mode: "plan" }],
  ];
  for (const [sentence, text, expected] of read)
    test(`${sentence} is read as YAML reads it`, () => {
      assert.deepEqual(plainFields(text), expected);
      assert.deepEqual(parse(text), expected);
    });

  const left: readonly [sentence: string, text: string][] = [
    ["nothing", ""],
    ["a key twice", "name: a\nname: b"],
    ["a number", "maxTurns: 3"],
    ["a truth value", "background: True"],
    ["a truth value in a list", "tools: [read, false]"],
    ["nothing as a value", "model: null"],
    ["a key of another kind", "true: a"],
    ["a comment", "name: a # b"],
    ["a mapping in a text", "name: a: b"],
    ["quotes", 'name: "a"'],
    ["an empty item", "tools: [read, , glob]"],
    ["a list in a list", "tools: [[a]]"],
    ["an empty list", "tools: []"],
    ["an anchor", "name: &a b"],
    ["a text over two lines", "name: a\n  b"],
    ["an empty line", "name: a\n\nmode: plan"],
    ["a space at the end", "name: a "],
    ["a comma at the end", "name: a,"],
    ["a letter beyond ASCII", "name: ä"],
  ];
  for (const [sentence, text] of left) test(`${sentence} is left to the parser`, () => assert.equal(plainFields(text), undefined));

  test("fields read without the YAML parser equal those the parser reads", () => {
    const word = fc.oneof(
      fc.constantFrom("true", "Null", "FALSE", "yes", "no", "Inf", "e1", "x0"),
      fc.stringMatching(/^[A-Za-z][\w ,.;()'/*:#[\]{}&!|>%@~-]{0,12}$/),
    );
    const value = fc.oneof(
      word,
      fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => `[${words.join(", ")}]`),
    );
    let seen = 0;
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom("name", "tools", "mode", "null"), value), { minLength: 1, maxLength: 3 }), (pairs) => {
        const text = pairs.map(([key, given]) => `${key}: ${given}`).join("\n");
        const found = plainFields(text);
        if (found === undefined) return;
        seen += 1;
        assert.deepEqual(found, parse(text));
      }),
      { numRuns: 2000, seed: 1 },
    );
    assert.ok(seen > 100, `only ${seen} texts were read`);
  });
});
