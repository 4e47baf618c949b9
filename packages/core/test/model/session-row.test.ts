import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionRow } from "../../src/ledger-port.ts";
import type { Draft, EventBodies, LedgerEvent } from "../../src/model/events.ts";
import { nextApprovalRow } from "../../src/model/ledger-rules.ts";
import { nextSessionRow, openApprovalDelta, sessionRowAt } from "../../src/model/session-row.ts";
import {
  answeredDraft,
  closedSessionDraft,
  createdDraft,
  DRAFTED_AT,
  draftOf,
  endedDraft,
  endedTaskDraft,
  openedDraft,
  proposedDraft,
  startedTaskDraft,
} from "../../testing/drafts.ts";

const HOLDER = { pid: 7, host: "here", processStart: "1", door: "test" };
const OPENED = draftOf("session.opened", { ...HOLDER, recovered: [] });

function placed(draft: Draft, session = "s_1"): LedgerEvent {
  return { ...draft, session, seq: 1, pos: 1, epoch: 1 } as LedgerEvent;
}

function rowAfter(...drafts: readonly Draft[]): SessionRow {
  const row = drafts.reduce<SessionRow | undefined>((before, draft) => nextSessionRow(before, placed(draft)), undefined);
  assert.ok(row);
  return row;
}

test("a session's row begins with its first record", () => {
  assert.deepEqual(rowAfter(createdDraft({ title: "fix it", model: "m1" })), {
    id: "s_1",
    cwd: "/workspace",
    title: "fix it",
    state: "running",
    model: "m1",
    turns: 0,
    calls: 0,
    openApprovals: 0,
    unknownOutcomes: 0,
    tasks: [],
    parent: null,
    forked: null,
    group: null,
    startedAt: DRAFTED_AT,
    updatedAt: DRAFTED_AT,
    writer: null,
  });
});

test("it counts turns, calls and unknown outcomes, and knows model, writer and newest time", () => {
  const later = "2026-02-01T00:00:00.000Z";
  const row = rowAfter(
    createdDraft(),
    OPENED,
    draftOf("model.changed", { from: null, to: "m2", by: "Tester" }),
    proposedDraft("c1", { turn: 1 }),
    proposedDraft("c2", { turn: 3 }),
    endedDraft("c1"),
    endedDraft("c2", { outcome: "unknown" }),
    draftOf("mode.changed", { from: "default", to: "yolo", by: "Tester" }, later),
  );
  assert.deepEqual([row.turns, row.calls, row.unknownOutcomes, row.model, row.updatedAt], [3, 2, 1, "m2", later]);
  assert.deepEqual(row.writer, HOLDER);
});

test("it counts background commands with an unknown outcome", () => {
  const ended = (task: string, unknown?: string): Draft =>
    endedTaskDraft(task, { status: "failed", ...(unknown !== undefined && { unknown }) });
  const row = rowAfter(createdDraft(), startedTaskDraft("t_1"), startedTaskDraft("t_2"), ended("t_1", "f1"), ended("t_2"));
  assert.deepEqual([row.unknownOutcomes, row.tasks], [1, []]);
});

test("a turn counts whether or not it calls anything, and once however often it is begun", () => {
  const begun = (turn: number): Draft => draftOf("turn.started", { turn, origin: "user", promptId: "u_1", model: "m1", toolChoice: null });
  const row = rowAfter(createdDraft(), begun(1), proposedDraft("c1", { turn: 1 }), endedDraft("c1"), begun(2), begun(2), begun(3));
  assert.deepEqual([row.turns, row.calls], [3, 1]);
});

test("it says whose session it is, and where its conversation comes from", () => {
  const parent = { session: "s_0", call: "c1", task: "t_1" };
  const forked = { session: "s_9", seq: 12 };
  assert.deepEqual(
    [rowAfter(createdDraft({ parent })), rowAfter(createdDraft({ forked }))].map((row) => [row.parent, row.forked]),
    [
      [parent, null],
      [null, forked],
    ],
  );
});

test("tasks are listed with their state until they end", () => {
  const started = (task: string): Draft => startedTaskDraft(task);
  const paused = (task: string): Draft => draftOf("task.paused", { task, reason: "restart", blocked: null });
  const rows = [
    started("t_1"),
    started("t_2"),
    paused("t_1"),
    paused("t_1"),
    draftOf("task.cancelling", { task: "t_2", by: "x", reason: null }),
  ];
  assert.deepEqual(rowAfter(createdDraft(), ...rows).tasks, [
    { task: "t_1", state: "paused" },
    { task: "t_2", state: "cancelling" },
  ]);
  const resumed = draftOf("task.resumed", { task: "t_1", by: "x" });
  assert.deepEqual(rowAfter(createdDraft(), ...rows, resumed, endedTaskDraft("t_2")).tasks, [{ task: "t_1", state: "running" }]);
  assert.deepEqual(rowAfter(createdDraft(), started("t_1"), endedTaskDraft("t_1")).tasks, []);
});

const CLOSINGS: readonly (readonly [EventBodies["session.closed"]["reason"], SessionRow["state"]])[] = [
  ["done", "done"],
  ["failed", "failed"],
  ["cancelled", "cancelled"],
  ["parked", "parked"],
  ["limit", "idle"],
  ["reset", "done"],
];

for (const [reason, state] of CLOSINGS) {
  test(`a session closed as ${reason} is ${state}, without a writer, and runs again when it is opened`, () => {
    const row = rowAfter(createdDraft(), OPENED, closedSessionDraft(reason));
    assert.deepEqual([row.state, row.writer], [state, null]);
    assert.equal(rowAfter(createdDraft(), OPENED, closedSessionDraft(reason), OPENED).state, "running");
  });
}

test("a running session without a live writer was interrupted; a closed one was not", () => {
  const running = rowAfter(createdDraft(), OPENED);
  assert.deepEqual([sessionRowAt(running, false).state, sessionRowAt(running, false).writer], ["interrupted", null]);
  assert.equal(sessionRowAt(running, true), running);
  assert.equal(sessionRowAt(rowAfter(createdDraft(), closedSessionDraft("parked")), false).state, "parked");
});

test("an approval counts once while it is open, however often it opens again", () => {
  const opened = nextApprovalRow(undefined, placed(openedDraft("c1")));
  const again = nextApprovalRow(opened, placed(openedDraft("c1", { revision: 2 })));
  const answered = nextApprovalRow(again, placed(answeredDraft("s_1", "c1", { revision: 2 }), "_store"));
  assert.deepEqual(
    [
      openApprovalDelta(undefined, opened),
      openApprovalDelta(opened, again),
      openApprovalDelta(again, answered),
      openApprovalDelta(answered, opened),
    ],
    [1, 0, -1, 1],
  );
  const row = nextSessionRow(rowAfter(createdDraft()), placed(openedDraft("c1")), openApprovalDelta(undefined, opened));
  assert.equal(row.openApprovals, 1);
});

test("a shared event that comes first still names its session", () => {
  assert.equal(nextSessionRow(undefined, placed(answeredDraft("s_9", "c1"), "_store")).id, "s_9");
});
