import assert from "node:assert/strict";
import { test } from "node:test";
import type { Answer } from "../../src/model/answer.ts";
import { ANSWER_WORDS, type AnswerWire, answerWord, readAnswerWord } from "../../src/model/answer-words.ts";

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
  test(`${word} of ${wire} is read, and is written again for what it means`, () => {
    const read = readAnswerWord(wire, word);
    assert.deepEqual(read, meaning);
    const { edits, ...answer } = read ?? { outcome: "reject" };
    assert.equal(answerWord(wire, edits ? { ...answer, updatedInput: {} } : answer), word);
  });
}

test("the table has no other words", () => {
  assert.equal(Object.values(ANSWER_WORDS).flatMap((words) => Object.keys(words)).length, WORDS.length);
});

test("a word of another wire, and anything but a word, means nothing", () => {
  for (const word of ["approve", "toString", "__proto__", "", "ALLOW", 1, undefined, null])
    assert.equal(readAnswerWord("permission", word), undefined);
});

const NEAREST: readonly (readonly [wire: AnswerWire, answer: Pick<Answer, "outcome"> & Partial<Answer>, word: string])[] = [
  ["permission", { outcome: "approve", remember: { scope: "user" } }, "allow"],
  ["permission", { outcome: "approve", updatedInput: {} }, "allow"],
  ["resume", { outcome: "approve", remember: { scope: "user" } }, "approve-tool"],
  ["confirmation", { outcome: "approve", remember: { scope: "session", rules: ["edit:path=a"] } }, "proceed_always"],
  ["confirmation", { outcome: "reject", updatedInput: {} }, "cancel"],
];
for (const [wire, answer, word] of NEAREST) {
  test(`on ${wire}, ${JSON.stringify(answer)} is ${word}`, () => assert.equal(answerWord(wire, answer), word));
}

test("on a wire without a word for everything, the word for it allows less", () => {
  const answer = { outcome: "approve", remember: { scope: "session", rules: ["*"] } } as const;
  assert.equal(answerWord("confirmation", answer), "proceed_always");
  assert.equal(answerWord("permission", answer), "allow");
});
