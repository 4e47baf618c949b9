import assert from "node:assert/strict";
import { test } from "node:test";
import {
  applyingDraft,
  askedDraft,
  claimedDraft,
  createdDraft,
  draftOf,
  endedDraft,
  judgedDraft,
  openedDraft,
  proposedDraft,
  stagedDraft,
} from "@assent/core/testing";
import type { Draft, LedgerEvent } from "../../src/model/events.ts";
import { emptySession, fold, type SessionState } from "../../src/model/fold.ts";
import type { Json } from "../../src/model/json/json.ts";
import { fromSnapshot, toSnapshot } from "../../src/model/snapshot.ts";

function folded(drafts: readonly Draft[]): SessionState {
  const state = emptySession();
  for (const [at, draft] of drafts.entries()) fold(state, { ...draft, session: "s_1", seq: at + 1, pos: at + 1, epoch: 1 } as LedgerEvent);
  return state;
}

const stored = (state: SessionState): Json => JSON.parse(JSON.stringify(toSnapshot(state)));

const full = folded([
  createdDraft({ model: "m1", title: "a title" }),
  proposedDraft("c1"),
  judgedDraft("c1", { verdict: "ask" }),
  openedDraft("c1", { expiresAt: "2026-01-01T01:00:00.000Z" }),
  proposedDraft("c2"),
  endedDraft("c2", { outcome: "invalid", type: "invalid_json" }),
  proposedDraft("c3"),
]);
full.unknown.add("f1");
full.rejected.add("f2");

const planning = { remembered: "default", file: "/workspace/plan.md" };
const talking = folded([
  createdDraft(),
  draftOf("mode.changed", { from: "default", to: "plan", by: "T", planning }),
  draftOf("turn.started", { turn: 3, origin: "user", promptId: "p", model: null, toolChoice: null }),
  draftOf("notice.queued", { notice: "n_1", kind: "proposal", modelText: "parked", displayText: "parked" }),
  draftOf("task.started", {
    ...{ task: "t_1", agent: "explorer", description: "look", prompt: "Look.", call: "c0", session: "s_2" },
    ...{ model: null, mode: "default", digest: "d" },
  }),
  draftOf("task.paused", { task: "t_1", reason: "restart", blocked: null }),
  draftOf("schedule.created", {
    ...{ schedule: "c_1", due: "2026-01-01T01:00:00.000Z", everyMs: 60_000, prompt: "Again." },
    ...{ recurring: true, durable: true, expiresAt: null },
  }),
  draftOf("schedule.fired", { schedule: "c_1", due: "2026-01-01T01:00:00.000Z", missed: 0 }),
  stagedDraft("p_1"),
  stagedDraft("p_2"),
  applyingDraft("p_2"),
  stagedDraft("p_3", { carrier: "closure" }),
  draftOf("proposal.stale", { proposal: "p_3", cause: "lost", files: [] }),
  proposedDraft("c1"),
  judgedDraft("c1"),
  claimedDraft("c1"),
  askedDraft("q_1", "c1"),
]);

for (const [name, state] of [
  ["an empty session", emptySession()],
  ["a session with proposals, a question, a notice, a task, a schedule and a plan", talking],
  ["a session with open and ended calls", full],
] as const) {
  test(`the snapshot of ${name}, written as JSON and read again, is the same state`, () => {
    assert.deepEqual(fromSnapshot(stored(state)), state);
  });
}

test("a snapshot holds only what is open and what was given, never a history", () => {
  const text = JSON.stringify(toSnapshot(full));
  assert.match(text, /"callId":"c1"/);
  assert.doesNotMatch(text, /"callId":"c2"/);
});

test("a snapshot keeps what waits: proposals, the lost one, questions, notices, the open turn and the plan", () => {
  const read = fromSnapshot(stored(talking));
  assert.deepEqual([...(read?.proposals.keys() ?? [])], ["p_1", "p_2"]);
  assert.deepEqual([read?.lost?.id, read?.openTurn, read?.planning], ["p_3", 3, planning]);
  assert.deepEqual([[...(read?.questions.keys() ?? [])], [...(read?.notices.keys() ?? [])]], [["q_1"], ["n_1"]]);
});

const damaged: readonly (readonly [name: string, value: Json])[] = [
  ["no object", null],
  ["a text", "snapshot"],
  ["a list", []],
  ["an empty object", {}],
  ["another version", { ...(stored(full) as object), version: 99 }],
  ["a version that is not a number", { ...(stored(full) as object), version: "1" }],
  ["our version with nothing in it", { version: (stored(full) as { version: number }).version }],
  ["calls that are not a list", { ...(stored(full) as object), calls: 7 }],
  ["proposals that are not a list", { ...(stored(talking) as object), proposals: {} }],
  ["questions that are not a list", { ...(stored(talking) as object), questions: null }],
  ["notices that are not a list", { ...(stored(talking) as object), notices: "n_1" }],
  ["the version before proposals", { ...(stored(full) as object), version: 1 }],
  ["ids that are not a list", { ...(stored(full) as object), ids: {} }],
  ["a sequence that is not a number", { ...(stored(full) as object), seq: "7" }],
];
for (const [name, value] of damaged) {
  test(`a snapshot that is ${name} is ignored`, () => {
    assert.equal(fromSnapshot(value), undefined);
  });
}
