import assert from "node:assert/strict";
import { test } from "node:test";
import { ANSWER_WORDS, type AnswerWire, readAnswerWord } from "../../src/model/answer-words.ts";

const WORDS: readonly (readonly [wire: AnswerWire, word: string, meaning: object])[] = [
  ["resume", "approve", { outcome: "approve" }],
  ["resume", "approve-session", { outcome: "approve", remember: { scope: "session", rules: ["*"] } }],
  ["resume", "approve-tool", { outcome: "approve", remember: { scope: "session" } }],
  ["resume", "reject", { outcome: "reject" }],
  ["confirmation", "proceed_once", { outcome: "approve" }],
  ["confirmation", "proceed_always", { outcome: "approve", remember: { scope: "session" } }],
  ["confirmation", "proceed_always_project", { outcome: "approve", remember: { scope: "project" } }],
  ["confirmation", "proceed_always_user", { outcome: "approve", remember: { scope: "user" } }],
  ["confirmation", "modify_with_editor", { outcome: "approve", edits: true }],
  ["confirmation", "cancel", { outcome: "reject" }],
  ["permission", "allow", { outcome: "approve" }],
  ["permission", "deny", { outcome: "reject" }],
];

for (const [wire, word, meaning] of WORDS) {
  test(`${word} of ${wire} is read`, () => assert.deepEqual(readAnswerWord(wire, word), meaning));
}

test("the table has no other words", () => {
  assert.equal(Object.values(ANSWER_WORDS).flatMap((words) => Object.keys(words)).length, WORDS.length);
});

test("a word of another wire, and anything but a word, means nothing", () => {
  for (const word of ["approve", "toString", "__proto__", "", "ALLOW", 1, undefined, null])
    assert.equal(readAnswerWord("permission", word), undefined);
});
