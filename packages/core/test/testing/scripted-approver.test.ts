import assert from "node:assert/strict";
import { test } from "node:test";
import type { Answer } from "../../src/model/answer.ts";
import type { OpenApproval } from "../../src/ports.ts";
import { sampleApproval, testApprover } from "../../testing/approver-suite.ts";
import { type ScriptedAnswer, scriptedApprover } from "../../testing/scripted-approver.ts";

testApprover("scriptedApprover", async () => {
  const people = new Map<string, PromiseWithResolvers<ScriptedAnswer>>();
  const person = ({ id, revision }: OpenApproval): PromiseWithResolvers<ScriptedAnswer> => {
    const known = people.get(`${id} ${revision}`) ?? Promise.withResolvers<ScriptedAnswer>();
    people.set(`${id} ${revision}`, known);
    return known;
  };
  const approver = scriptedApprover((approval) => person(approval).promise);
  return { approver, answer: (approval, outcome) => person(approval).resolve(outcome) };
});

const live = (): AbortSignal => new AbortController().signal;

const SCRIPT: Readonly<Record<string, ScriptedAnswer>> = {
  c1: "approve",
  note: "reject",
  c3: { outcome: "approve", remember: { scope: "session" }, reason: "always" },
  c4: "leave",
};

const ROWS: readonly (readonly [string, string, string, Partial<Answer> | undefined])[] = [
  ["a call's own words come before its tool's", "c1", "note", { outcome: "approve" }],
  ["a tool's words answer the rest of its calls", "c2", "note", { outcome: "reject" }],
  ["an answer may say more", "c3", "note", { outcome: "approve", remember: { scope: "session" }, reason: "always" }],
  ["what is left is not answered", "c4", "note", undefined],
  ["what the script does not know is not answered", "c5", "shell", undefined],
];

for (const [title, callId, tool, expected] of ROWS) {
  test(title, async () => {
    const approver = scriptedApprover(SCRIPT);
    const approval = sampleApproval({ callId, tool, revision: 4 });
    const answer = await approver.ask(approval, live());
    const named = { approval: approval.id, revision: 4, fingerprint: approval.fingerprint };
    assert.deepEqual(answer && { ...answer, by: answer.by.kind }, expected && { ...named, ...expected, by: "person" });
    assert.deepEqual(approver.shown, [approval]);
  });
}

test("a script that waits answers nothing when it is withdrawn", async () => {
  const controller = new AbortController();
  const asking = scriptedApprover({ c1: "wait" }).ask(sampleApproval(), controller.signal);
  controller.abort();
  assert.equal(await asking, undefined);
});

test("what was withdrawn before is not even shown", async () => {
  const approver = scriptedApprover({ c1: "approve" });
  assert.equal(await approver.ask(sampleApproval(), AbortSignal.abort()), undefined);
  assert.deepEqual(approver.shown, []);
});

test("a script that throws rejects and approves nothing", async () => {
  const approver = scriptedApprover(() => {
    throw new Error("the person left");
  });
  await assert.rejects(approver.ask(sampleApproval(), live()), /the person left/);
});

test("the person may be unavailable and return", () => {
  const approver = scriptedApprover();
  approver.setAvailable(false);
  assert.equal(approver.available(), false);
  approver.setAvailable(true);
  assert.equal(approver.available(), true);
});
