import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { test } from "node:test";
import { IllegalEvent } from "@assent/core";
import { asFailure, fileProblem, hintText } from "../../src/io/failure.ts";

const HINTS: readonly (readonly [sentence: string, hint: string, shown: string])[] = [
  ["a command that shows something is to be seen", "assent sessions", "See: assent sessions"],
  ["a command that acts is introduced by 'continue'", "assent resume s_1 --tasks", "Continue with: assent resume s_1 --tasks"],
  ["a sentence stays as it is", "Give more characters.", "Give more characters."],
  ["nothing stays nothing", "", ""],
];

for (const [sentence, hint, shown] of HINTS) test(sentence, () => assert.equal(hintText(hint), shown));

test("an event that contradicts the record is reported as a bug, not by the event's name", () => {
  const error = new IllegalEvent({ seq: 11, type: "schedule.removed", session: "s_1" }, "none");
  const { type, exit, message } = asFailure(error);
  assert.deepEqual([type, exit], ["unhandled_exception", 1]);
  assert.match(message, /^An event does not fit the record: Event schedule\.removed at s_1:11 /);
});

test("an error of the system is a sentence about its path", () => {
  try {
    mkdirSync("/nowhere/at/all");
  } catch (error) {
    assert.equal(asFailure(error).message, "Cannot use /nowhere/at/all: it does not exist.");
    assert.equal(fileProblem(error), "it does not exist");
    return;
  }
  assert.fail("made");
});
