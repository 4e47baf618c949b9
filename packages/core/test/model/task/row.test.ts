import assert from "node:assert/strict";
import { test } from "node:test";
import { draftOf } from "@assent/core/testing";
import type { Draft, LedgerEvent } from "../../../src/model/events.ts";
import { emptySession, fold, IllegalEvent, type SessionState } from "../../../src/model/fold.ts";

const started = draftOf("task.started", {
  ...{ task: "t_1", agent: "explorer", description: "find callers", prompt: "Find them.", call: "c1", session: "s_2" },
  ...{ model: "m", mode: "default", digest: "d" },
});
const usage = { totalTokens: 0, toolUses: 0, durationMs: 0 };
const ended = draftOf("task.ended", {
  ...{ task: "t_1", status: "completed", result: "three", error: null, partial: false, usage, settled: true, by: null },
});
const paused = draftOf("task.paused", { task: "t_1", reason: "restart", blocked: null });
const resumed = draftOf("task.resumed", { task: "t_1", by: "person" });
const cancelling = draftOf("task.cancelling", { task: "t_1", by: "person", reason: null });
const command = draftOf("task.started", { ...started.body, command: { outputFile: "/o/c1.txt", fingerprint: "f1" } });
const process = draftOf("task.process", { task: "t_1", pid: 7, pgid: 7, processStart: "then" });
const message = draftOf("task.message", { task: "t_1", message: "n_1", text: "hurry", by: "model" });

function folded(drafts: readonly Draft[]): SessionState {
  const state = emptySession();
  for (const [at, draft] of drafts.entries()) fold(state, { ...draft, session: "s_1", seq: at + 1, pos: at + 1, epoch: 1 } as LedgerEvent);
  return state;
}

for (const [name, drafts, state] of [
  ["a task that was started runs", [started], "running"],
  ["a message changes nothing of it", [started, message], "running"],
  ["a paused task waits", [started, paused], "paused"],
  ["a resumed one runs again", [started, paused, resumed], "running"],
  ["one that is to end is not paused by a crash", [started, cancelling], "cancelling"],
  ["a command runs in its process", [command, process], "running"],
  ["a command that is to end is still in its process", [command, process, cancelling], "cancelling"],
  ["one that ended is forgotten", [started, ended], undefined],
  ["one that ended while paused is forgotten", [started, paused, ended], undefined],
] as const) {
  test(name, () => assert.equal(folded(drafts).tasks.get("t_1")?.state, state));
}

for (const [name, drafts] of [
  ["nothing starts twice", [started, started]],
  ["what was never started does not end", [ended]],
  ["nothing ends twice: one terminal notice each", [started, ended, ended]],
  ["what runs is not resumed", [started, resumed]],
  ["what ended hears no message", [started, ended, message]],
  ["an agent has no process of its own", [started, process]],
  ["what ended starts no process", [command, process, ended, process]],
] as const) {
  test(`${name}: the record would be corrupt`, () => assert.throws(() => folded(drafts), IllegalEvent));
}

test("the last process of a command counts, and those before it are known", () => {
  const next = draftOf("task.process", { task: "t_1", pid: 8, pgid: 8, processStart: "later" });
  assert.deepEqual(folded([command, process, next]).tasks.get("t_1")?.process, {
    ...{ pid: 8, pgid: 8, processStart: "later" },
    others: [{ pid: 7, pgid: 7, processStart: "then" }],
  });
});

test("a command with an unknown outcome is remembered by its fingerprint", () => {
  const lost = draftOf("task.ended", { ...ended.body, status: "failed", error: "unknown", unknown: "f1" });
  assert.deepEqual([[...folded([command, process, lost]).unknown], [...folded([command, process, ended]).unknown]], [["f1"], []]);
});

const created = draftOf("schedule.created", {
  ...{
    schedule: "c_1",
    due: "2026-01-01T01:00:00.000Z",
    everyMs: 60_000,
    prompt: "Again.",
    recurring: true,
    durable: false,
    expiresAt: null,
  },
});
const fired = draftOf("schedule.fired", { schedule: "c_1", due: "2026-01-01T01:00:00.000Z", missed: 2 });
const removed = draftOf("schedule.removed", { schedule: "c_1", why: "deleted" });

test("a schedule remembers the last time it fired for", () => {
  assert.equal(folded([created]).schedules.get("c_1")?.lastDue, null);
  assert.equal(folded([created, fired]).schedules.get("c_1")?.lastDue, "2026-01-01T01:00:00.000Z");
});

test("a removed schedule is forgotten, and does not fire", () => {
  assert.equal(folded([created, removed]).schedules.size, 0);
  assert.throws(() => folded([created, removed, fired]), IllegalEvent);
});
