import assert from "node:assert/strict";
import { test } from "node:test";
import { createdDraft, endedDraft, judgedDraft, openedDraft, proposedDraft } from "@assent/core/testing";
import type { Draft, LedgerEvent } from "../../src/model/events.ts";
import { emptySession, fold, type SessionState } from "../../src/model/fold.ts";
import type { Json } from "../../src/model/json.ts";
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

for (const [name, state] of [
  ["an empty session", emptySession()],
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

const damaged: readonly (readonly [name: string, value: Json])[] = [
  ["no object", null],
  ["a text", "snapshot"],
  ["a list", []],
  ["an empty object", {}],
  ["another version", { ...(stored(full) as object), version: 99 }],
  ["a version that is no number", { ...(stored(full) as object), version: "1" }],
  ["our version with nothing in it", { version: (stored(full) as { version: number }).version }],
  ["calls that are no list", { ...(stored(full) as object), calls: 7 }],
  ["ids that are no list", { ...(stored(full) as object), ids: {} }],
  ["a sequence that is no number", { ...(stored(full) as object), seq: "7" }],
];
for (const [name, value] of damaged) {
  test(`a snapshot that is ${name} is ignored`, () => {
    assert.equal(fromSnapshot(value), undefined);
  });
}
