import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Draft, type EventBodies, memoryLedger, type SharedDraft } from "@assent/core";
import {
  answeredDraft,
  askedDraft,
  claimedDraft,
  createdDraft,
  draftOf,
  judgedDraft,
  openedDraft,
  proposedDraft,
  repliedDraft,
} from "@assent/core/testing";
import { readReadiness, type WorkReason } from "../../src/worker/readiness.ts";

const ID = "s_1";
const HOLDER = { pid: 1, host: "here", processStart: "then", door: "worker" };
const NOW = Date.parse("2026-06-01T12:00:00Z");

function asked(call: string, index: number, over: Partial<EventBodies["approval.opened"]> = {}): readonly Draft[] {
  const proposed = proposedDraft(call);
  return [{ ...proposed, body: { ...proposed.body, index } }, judgedDraft(call, { verdict: "ask" }), openedDraft(call, over)];
}

const QUESTION: readonly Draft[] = [proposedDraft("c1"), judgedDraft("c1"), claimedDraft("c1"), askedDraft("q_1", "c1")];

function schedule(due: string, durable: boolean): Draft {
  return draftOf("schedule.created", { schedule: "c_1", due, everyMs: null, prompt: "look", recurring: false, durable, expiresAt: null });
}

function task(blocked: string | null): readonly Draft[] {
  const started = {
    task: "t_1",
    agent: "x",
    description: "",
    prompt: "",
    call: null,
    session: "s_2",
    model: null,
    mode: "default",
    digest: null,
  };
  return [draftOf("task.started", started), draftOf("task.paused", { task: "t_1", reason: "restart", blocked })];
}

type Row = readonly [
  sentence: string,
  events: readonly Draft[],
  closed: EventBodies["session.closed"]["reason"] | undefined,
  expected: WorkReason | undefined,
  answers?: readonly SharedDraft[],
];

const ROWS: readonly Row[] = [
  ["a submitted run has work", [], "queued", "submitted"],
  ["a run that a process works on has none", [], undefined, undefined],
  ["a parked run with an open approval has none", asked("c1", 0), "parked", undefined],
  ["an approved call is work", asked("c1", 0), "parked", "answered", [answeredDraft(ID, "c1")]],
  ["a rejected call is work", asked("c1", 0), "parked", "answered", [answeredDraft(ID, "c1", { outcome: "rejected" })]],
  ["the first of two calls can run", [...asked("c1", 0), ...asked("c2", 1)], "parked", "answered", [answeredDraft(ID, "c1")]],
  ["the second of two calls waits for the first", [...asked("c1", 0), ...asked("c2", 1)], "parked", undefined, [answeredDraft(ID, "c2")]],
  ["an approval past its deadline is work", asked("c1", 0, { expiresAt: "2026-06-01T11:59:59Z" }), "parked", "answered"],
  ["an approval before its deadline is none", asked("c1", 0, { expiresAt: "2026-06-01T12:00:01Z" }), "parked", undefined],
  ["an open question is none", QUESTION, "parked", undefined],
  ["an answered question is work", QUESTION, "parked", "answered", [repliedDraft(ID, "q_1")]],
  ["an agent that can continue is work", task(null), "parked", "task"],
  ["an agent that a person must release is none", task("execution_unknown"), "parked", undefined],
  ["a finished run has none", [], "done", undefined],
  ["a durable schedule of a finished run is work once it is due", [schedule("2026-06-01T11:00:00Z", true)], "done", "schedule"],
  ["a later schedule is none", [schedule("2026-06-01T13:00:00Z", true)], "done", undefined],
  ["a schedule of an ended process is none", [schedule("2026-06-01T11:00:00Z", false)], "done", undefined],
  ["a cancelled run has none, also with a schedule", [schedule("2026-06-01T11:00:00Z", true)], "cancelled", undefined],
  ["a run at its limit has none", [], "limit", undefined],
  ["a failed run has none", asked("c1", 0), "failed", undefined, [answeredDraft(ID, "c1")]],
];

describe("whether a session has work for a worker", () => {
  for (const [sentence, events, closed, expected, answers = []] of ROWS)
    test(sentence, async () => {
      const ledger = memoryLedger();
      const lease = await ledger.acquire(ID, HOLDER);
      const ends = closed === undefined ? [] : [draftOf("session.closed", { reason: closed, exit: 0 })];
      const opened = draftOf("session.opened", { ...HOLDER, recovered: [] });
      for (const [seq, event] of [createdDraft(), opened, ...events, ...ends].entries()) {
        if (event.type === "call.claimed") assert.ok("won" in (await ledger.claim(lease, seq, event as Draft<"call.claimed">)));
        else await ledger.append(lease, seq, { events: [event], durability: "full" });
      }
      for (const answer of answers) assert.ok("won" in (await ledger.answer([answer])));
      const [row] = await ledger.pending("sessions", { all: true });
      assert.ok(row);
      assert.equal((await readReadiness(ledger, row, NOW)).why, expected);
    });
});
