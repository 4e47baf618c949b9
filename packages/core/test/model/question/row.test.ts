import assert from "node:assert/strict";
import { test } from "node:test";
import { type LedgerEvent, SHARED } from "../../../src/model/events.ts";
import { answeredQuestion, askedQuestion } from "../../../src/model/question/row.ts";
import { askedDraft, fingerprintOf, repliedDraft, TESTER } from "../../../testing/drafts.ts";

const SESSION = "s_1";
const ASKED: LedgerEvent<"question.asked"> = { ...askedDraft("q_1", "c1"), session: SESSION, seq: 4, pos: 9, epoch: 1 };

function reply(over: Parameters<typeof repliedDraft>[2] = {}): LedgerEvent<"question.answered"> {
  return { ...repliedDraft(SESSION, "q_1", over), session: SHARED, seq: 2, pos: 11, epoch: 1 };
}

test("a question that was asked is open and says who asks what", () => {
  assert.deepEqual(askedQuestion(ASKED), {
    id: "q_1",
    session: SESSION,
    callId: "c1",
    fingerprint: fingerprintOf("c1"),
    questions: ASKED.body.questions,
    askedAt: ASKED.at,
    state: "open",
    answers: null,
    answeredBy: null,
    answeredAt: null,
    answerReason: null,
  });
});

for (const outcome of ["answered", "declined", "expired", "cancelled"] as const) {
  test(`a question is ${outcome} once, and nothing is said to it after that`, () => {
    const row = answeredQuestion(askedQuestion(ASKED), reply({ outcome, reason: "why" })) ?? assert.fail("refused");
    assert.deepEqual([row.state, row.answeredBy, row.answeredAt, row.answerReason], [outcome, TESTER, reply().at, "why"]);
    assert.deepEqual(row.questions, ASKED.body.questions);
    for (const next of ["answered", "declined", "expired", "cancelled"] as const)
      assert.equal(answeredQuestion(row, reply({ outcome: next })), undefined);
  });
}

test("an answer without selections leaves none", () => {
  const { answers: _said, ...silent } = reply({ outcome: "declined" }).body;
  const row = answeredQuestion(askedQuestion(ASKED), { ...reply(), body: silent });
  assert.equal(row?.answers, null);
  assert.deepEqual(answeredQuestion(askedQuestion(ASKED), reply())?.answers, [{ id: "db", selected: ["SQLite"] }]);
});
