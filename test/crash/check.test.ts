import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, describe, test } from "node:test";
import { canonicalJson, type Json } from "@assent/core";
import { answeredDraft, claimedDraft, createdDraft, endedDraft, judgedDraft, openedDraft, proposedDraft } from "@assent/core/testing";
import { openLedger } from "@assent/store";
import { check } from "./check.ts";

/** Histories are written row by row, with the hashes of the core's canonical JSON: the checker must agree with it and still share no code. */
const STORE_ID = "store-under-test";
const S = "s_1";
const SHARED = "_store";

type Body = Record<string, unknown>;
type Event = {
  readonly session: string;
  readonly type: string;
  readonly body: Body;
  readonly epoch?: number;
  readonly seq?: number;
  readonly prev?: string;
};
type Line = { readonly call: string; readonly session: string; readonly attempt: number; readonly key: string | null };
type Story = {
  readonly events: readonly Event[];
  readonly world?: readonly Line[];
  readonly client?: readonly Body[];
  /** Damage done to the finished file. */
  readonly spoil?: string;
};

const input = { command: "touch x" };
const edit = { command: "touch y" };
const REQUEST = { tool: "shell", toolDigest: "d1", input, cwd: "/w", binds: {} };
const EDITED = { ...REQUEST, input: edit };
const F = fingerprint(REQUEST);
const G = fingerprint(EDITED);

const created = shared("store.created", { store: STORE_ID, version: 1 });
const opened = own("session.created", { cwd: "/w", policy: "r1" });
const proposed = (call: string, over: Body = {}): Event =>
  own("call.proposed", { call, turn: 1, index: 0, tool: "shell", raw: "", ...over });
const judged = (call: string, over: Body = {}): Event => {
  return own("call.judged", { call, ...REQUEST, fingerprint: F, verdict: "allow", policy: "r1", ...over });
};
const asked = (call: string, over: Body = {}): Event => judged(call, { verdict: "ask", ...over });
const shown = (call: string, over: Body = {}): Event => {
  return own("approval.opened", { call, approval: `a_${call}`, revision: 1, fingerprint: F, ...over });
};
const answered = (call: string, over: Body = {}): Event => {
  const body = { call, session: S, approval: `a_${call}`, revision: 1, outcome: "approved", fingerprint: F, by: { kind: "person" } };
  return shared("approval.answered", { ...body, ...over });
};
const closed = (call: string, outcome: string): Event => {
  return shared("approval.closed", { call, session: S, approval: `a_${call}`, revision: 1, outcome });
};
const claimed = (call: string, over: Body = {}): Event => {
  return own("call.claimed", { call, fingerprint: F, answer: null, attempt: 1, idempotencyKey: null, ...over });
};
const ended = (call: string, outcome = "succeeded"): Event => own("call.ended", { call, outcome, type: null });
const line = (call: string, over: Partial<Line> = {}): Line => ({ call, session: S, attempt: 1, key: null, ...over });

const started = own("task.started", { task: "t_1", call: "c1" });
const paused = own("task.paused", { task: "t_1", reason: "restart", blocked: null });
const resumed = own("task.resumed", { task: "t_1", by: "person" });
const finished = own("task.ended", { task: "t_1", status: "completed" });
const queued = own("notice.queued", { notice: "n_1", kind: "task", task: "t_1", call: "c1" });
const said = own("message.user", { turn: 2, content: "…", origin: "notice" });
const told = own("notice.delivered", { ids: ["n_1"], turn: 2 });

/** Both begin with `created` and `opened`, so the first event below stands at pos 3 and seq 2 of the session. */
const allowedCall = [proposed("c1"), judged("c1"), claimed("c1"), ended("c1")];
const yes = { answer: { pos: 6 } };
const approvedCall = [proposed("c1"), asked("c1"), shown("c1"), answered("c1"), claimed("c1", yes), ended("c1")];

const HOLDS: readonly [sentence: string, story: Story][] = [
  [
    "a call of which nothing could be recorded, told not to have run",
    { events: [], client: [{ sessionId: S, callId: "c1", outcome: "denied", type: "store_unavailable" }] },
  ],
  ["a task and a notice that name a call which has ended", { events: [...allowedCall, started, finished, queued] }],
  [
    "a task that is paused, goes on, and ends with its notice, which is told once",
    { events: [started, paused, resumed, finished, queued, said, told] },
  ],
  ["a task that rests where a person sees it", { events: [started, paused] }],
  ["a notice of a reset", { events: [started, finished, queued, own("notice.dropped", { ids: ["n_1"], why: "reset" })] }],
  ["an allowed call with one effect", { events: allowedCall, world: [line("c1")] }],
  ["an approved call with one effect", { events: approvedCall, world: [line("c1")] }],
  ["a call that never reached the world", { events: [proposed("c1"), ended("c1", "invalid")] }],
  ["a crash before the effect: unknown, and an empty world", { events: [...allowedCall.slice(0, 3), ended("c1", "unknown")] }],
  ["a call that waits", { events: [proposed("c1"), asked("c1"), shown("c1")] }],
  [
    "an allowed and an approved call behind one that waits",
    {
      events: [
        proposed("c1"),
        proposed("c2", { index: 1 }),
        proposed("c3", { index: 2 }),
        asked("c1"),
        judged("c2"),
        asked("c3"),
        shown("c1"),
        shown("c3"),
        answered("c3"),
      ],
    },
  ],
  [
    "an edit is judged again and claimed as edited",
    {
      events: [
        proposed("c1"),
        asked("c1"),
        shown("c1"),
        answered("c1", { edited: { input: edit, fingerprint: G } }),
        asked("c1", { input: edit, fingerprint: G }),
        claimed("c1", { answer: { pos: 6 }, fingerprint: G }),
        ended("c1"),
      ],
      world: [line("c1")],
    },
  ],
  [
    "a yes from a grant",
    {
      events: [
        proposed("c1"),
        asked("c1"),
        own("call.answered", { call: "c1", fingerprint: F, by: { kind: "grant", id: "g_1" } }),
        claimed("c1", { answer: { pos: 5 } }),
        ended("c1"),
      ],
      world: [line("c1")],
    },
  ],
  [
    "a retry with the same key and the same yes",
    {
      events: [
        ...approvedCall.slice(0, 4),
        claimed("c1", { ...yes, idempotencyKey: "k" }),
        claimed("c1", { ...yes, idempotencyKey: "k", attempt: 2 }),
        ended("c1"),
      ],
      world: [line("c1", { key: "k" }), line("c1", { key: "k", attempt: 2 })],
    },
  ],
  [
    "a policy that changes before the last decision",
    {
      events: [
        proposed("c1"),
        asked("c1"),
        shown("c1"),
        answered("c1"),
        own("policy.changed", { revision: "r2", digest: "" }),
        asked("c1", { policy: "r2" }),
        claimed("c1", yes),
        ended("c1"),
      ],
      world: [line("c1")],
    },
  ],
  ["a yes taken back and the call denied", { events: [...approvedCall.slice(0, 4), closed("c1", "denied"), ended("c1", "denied")] }],
  [
    "a fingerprint left out while nothing needs it",
    { events: [proposed("c1"), judged("c1", { fingerprint: undefined }), claimed("c1"), ended("c1")] },
  ],
  [
    "a text kept as a blob",
    {
      events: [proposed("c1"), judged("c1", { input: { command: { $blob: sha256("touch x"), size: 7 } } }), claimed("c1"), ended("c1")],
      spoil: insertBlob("touch x", "touch x"),
    },
  ],
  [
    "an input kept whole as a blob",
    {
      events: [
        proposed("c1"),
        judged("c1", { input: { $blob: sha256(JSON.stringify(input)), size: 21, json: true } }),
        claimed("c1"),
        ended("c1"),
      ],
      spoil: insertBlob(JSON.stringify(input), JSON.stringify(input)),
    },
  ],
  [
    "a nested call inside its parent, and a second turn after both",
    {
      events: [
        proposed("c1"),
        judged("c1"),
        claimed("c1"),
        proposed("c1/1"),
        judged("c1/1"),
        claimed("c1/1"),
        ended("c1/1"),
        ended("c1"),
        proposed("c2", { turn: 2 }),
        ended("c2", "invalid"),
      ],
    },
  ],
  [
    "a pruned session whose answers remain on the shared chain",
    { events: [answered("c9", { session: "s_gone" }), shared("store.pruned", { session: "s_gone", seq: 7, hash: "" })] },
  ],
  [
    "what clients were told",
    {
      events: approvedCall,
      client: [
        { sessionId: S, callId: "c1", outcome: "waiting", approvalId: "a_c1" },
        { id: "a_c1", outcome: "approved" },
        { sessionId: S, callId: "c1", outcome: "succeeded" },
      ],
    },
  ],
];

const FAILS: readonly [sentence: string, invariants: readonly string[], story: Story][] = [
  ["a call without an end", ["I1"], { events: [proposed("c1")] }],
  ["a claimed call without an end", ["I1"], { events: allowedCall.slice(0, 3) }],
  ["a judged call behind nothing", ["I1"], { events: [proposed("c1"), judged("c1")] }],
  [
    "a judged call in front of one that waits",
    ["I1"],
    { events: [proposed("c1"), proposed("c2", { index: 1 }), judged("c1"), asked("c2"), shown("c2")] },
  ],
  [
    "a judged call behind a waiting one of another turn",
    ["I1", "I8"],
    { events: [proposed("c1"), asked("c1"), shown("c1"), proposed("c2", { turn: 2, index: 1 }), judged("c2")] },
  ],
  ["a no that was never recorded as an end", ["I1"], { events: [...approvedCall.slice(0, 3), answered("c1", { outcome: "rejected" })] }],
  ["an end without a proposal", ["I1"], { events: [ended("c1", "invalid")] }],
  ["two ends", ["I1", "I7"], { events: [...allowedCall, ended("c1")] }],
  [
    "an effect without a claim",
    ["I2"],
    { events: [proposed("c1"), judged("c1", { verdict: "deny" }), ended("c1", "denied")], world: [line("c1")] },
  ],
  ["an effect of a call nobody proposed", ["I2"], { events: allowedCall, world: [line("c1"), line("ghost")] }],
  ["an effect of an attempt nobody claimed", ["I2"], { events: allowedCall, world: [line("c1"), line("c1", { attempt: 2 })] }],
  ["a claim without a decision", ["I2"], { events: [proposed("c1"), claimed("c1"), ended("c1")] }],
  ["a claim before its decision", ["I2"], { events: [proposed("c1"), claimed("c1"), judged("c1"), ended("c1")] }],
  ["a claim of a denied call", ["I2"], { events: [proposed("c1"), judged("c1", { verdict: "deny" }), claimed("c1"), ended("c1")] }],
  ["a claim of an ask without a yes", ["I2"], { events: [proposed("c1"), asked("c1"), claimed("c1"), ended("c1")] }],
  [
    "a claim that names a no",
    ["I2"],
    { events: [...approvedCall.slice(0, 3), answered("c1", { outcome: "rejected" }), claimed("c1", yes), ended("c1")] },
  ],
  [
    "a claim that names a yes of later",
    ["I2"],
    { events: [...approvedCall.slice(0, 3), claimed("c1", { answer: { pos: 7 } }), answered("c1"), ended("c1")] },
  ],
  [
    "a claim that names the yes to another call",
    ["I2"],
    { events: [...approvedCall, proposed("c2", { index: 1 }), asked("c2"), claimed("c2", { answer: { pos: 4 } }), ended("c2")] },
  ],
  [
    "a claim after its yes was taken back",
    ["I2"],
    { events: [...approvedCall.slice(0, 4), closed("c1", "denied"), claimed("c1", yes), ended("c1")] },
  ],
  [
    "a claim after its approval opened again",
    ["I2"],
    { events: [...approvedCall.slice(0, 4), asked("c1"), shown("c1", { revision: 2 }), claimed("c1", yes), ended("c1")] },
  ],
  [
    "a claim after the grant was revoked that answered its approval",
    ["I2"],
    {
      events: [
        ...approvedCall.slice(0, 3),
        answered("c1", { by: { kind: "grant", name: "g_1" } }),
        shared("grant.revoked", { grant: "g_1", by: "me" }),
        claimed("c1", yes),
        ended("c1"),
      ],
    },
  ],
  [
    "a claim after its grant was revoked",
    ["I2"],
    {
      events: [
        proposed("c1"),
        asked("c1"),
        own("call.answered", { call: "c1", fingerprint: F, by: { kind: "grant", id: "g_1" } }),
        shared("grant.revoked", { grant: "g_1", by: "me" }),
        claimed("c1", { answer: { pos: 5 } }),
        ended("c1"),
      ],
    },
  ],
  ["two answers to one approval", ["I3"], { events: [...approvedCall.slice(0, 4), answered("c1"), claimed("c1", yes), ended("c1")] }],
  [
    "an answer after the close",
    ["I3"],
    { events: [...approvedCall.slice(0, 3), closed("c1", "expired"), answered("c1"), claimed("c1", { answer: { pos: 7 } }), ended("c1")] },
  ],
  ["a yes that expires", ["I3"], { events: [...approvedCall.slice(0, 4), closed("c1", "expired"), ended("c1", "expired")] }],
  [
    "a yes taken back twice",
    ["I3"],
    { events: [...approvedCall.slice(0, 4), closed("c1", "denied"), closed("c1", "cancelled"), ended("c1", "denied")] },
  ],
  [
    "an answer to an approval that never opened",
    ["I3", "I5"],
    { events: [proposed("c1"), asked("c1"), answered("c1"), ended("c1", "cancelled")] },
  ],
  [
    "one yes consumed by two calls",
    ["I2", "I3"],
    { events: [...approvedCall, proposed("c2", { index: 1 }), asked("c2"), claimed("c2", yes), ended("c2")] },
  ],
  ["one yes consumed twice by its call", ["I3", "I4"], { events: [...approvedCall.slice(0, 5), claimed("c1", yes), ended("c1")] }],
  ["two effects of one attempt", ["I4"], { events: allowedCall, world: [line("c1"), line("c1")] }],
  [
    "a second claim without a key",
    ["I4"],
    { events: [...allowedCall.slice(0, 3), claimed("c1", { attempt: 2 }), ended("c1")], world: [line("c1")] },
  ],
  [
    "a second claim under another key",
    ["I4"],
    {
      events: [
        proposed("c1"),
        judged("c1"),
        claimed("c1", { idempotencyKey: "k" }),
        claimed("c1", { idempotencyKey: "l", attempt: 2 }),
        ended("c1"),
      ],
    },
  ],
  [
    "a third claim",
    ["I4"],
    { events: [...allowedCall.slice(0, 2), ...[1, 2, 3].map((attempt) => claimed("c1", { attempt, idempotencyKey: "k" })), ended("c1")] },
  ],
  [
    "effects under different keys",
    ["I4"],
    {
      events: [...allowedCall.slice(0, 2), ...[1, 2].map((attempt) => claimed("c1", { attempt, idempotencyKey: "k" })), ended("c1")],
      world: [line("c1", { key: "k" }), line("c1", { key: "l", attempt: 2 })],
    },
  ],
  [
    "a first claim that is not the first attempt",
    ["I4"],
    { events: [proposed("c1"), judged("c1"), claimed("c1", { attempt: 2 }), ended("c1")] },
  ],
  ["a claim of another fingerprint", ["I5"], { events: [proposed("c1"), judged("c1"), claimed("c1", { fingerprint: G }), ended("c1")] }],
  [
    "a durable claim without a fingerprint",
    ["I5"],
    { events: [proposed("c1"), judged("c1"), claimed("c1", { fingerprint: undefined }), ended("c1")] },
  ],
  [
    "a decision whose fingerprint is not that of its input",
    ["I5"],
    { events: [proposed("c1"), judged("c1", { input: edit }), claimed("c1", { fingerprint: G }), ended("c1")] },
  ],
  [
    "an approval that shows another request than the judged one",
    ["I5"],
    { events: [proposed("c1"), asked("c1"), shown("c1", { fingerprint: G })] },
  ],
  [
    "a yes to another fingerprint than the one shown",
    ["I5"],
    {
      events: [
        ...approvedCall.slice(0, 3),
        answered("c1", { fingerprint: G, edited: { input, fingerprint: F } }),
        claimed("c1", yes),
        ended("c1"),
      ],
    },
  ],
  [
    "a yes that does not cover what is claimed",
    ["I5"],
    { events: [...approvedCall.slice(0, 3), answered("c1", { edited: { input: edit, fingerprint: G } }), claimed("c1", yes), ended("c1")] },
  ],
  [
    "an input whose blob is gone",
    ["I5"],
    { events: [proposed("c1"), judged("c1", { input: { command: { $blob: sha256("gone"), size: 9 } } }), claimed("c1"), ended("c1")] },
  ],
  [
    "an input whose blob was changed",
    ["I5"],
    {
      events: [proposed("c1"), judged("c1", { input: { command: { $blob: sha256("other"), size: 9 } } }), claimed("c1"), ended("c1")],
      spoil: insertBlob("other", "touch x"),
    },
  ],
  [
    "a policy that changes between decision and claim",
    ["I6"],
    { events: [proposed("c1"), judged("c1"), own("policy.changed", { revision: "r2", digest: "" }), claimed("c1"), ended("c1")] },
  ],
  [
    "a decision under a policy no longer in force",
    ["I6"],
    { events: [own("policy.changed", { revision: "r2", digest: "" }), ...allowedCall] },
  ],
  ["a record after the end", ["I7"], { events: [...allowedCall, own("call.started", { call: "c1", pid: 1 })] }],
  ["an answer after the end", ["I7"], { events: [...approvedCall.slice(0, 3), ended("c1", "cancelled"), answered("c1")] }],
  ["a changed body", ["I7"], { events: allowedCall, spoil: `update events set body = replace(body, 'succeeded', 'cancelled')` }],
  ["a missing row", ["I7"], { events: allowedCall, spoil: "delete from events where type = 'session.created'" }],
  [
    "a row moved to another time",
    ["I7"],
    { events: allowedCall, spoil: "update events set at = '1999-01-01T00:00:00.000Z' where pos = 4" },
  ],
  ["a row copied from another store", ["I7"], { events: allowedCall, spoil: "update meta set value = 'another'" }],
  ["a gap in the numbers of rows that are linked", ["I7"], { events: [{ ...proposed("c1"), seq: 3 }, ended("c1", "invalid")] }],
  [
    "a row that is linked to another one than the last",
    ["I7"],
    { events: [{ ...proposed("c1"), prev: "f".repeat(64) }, ended("c1", "invalid")] },
  ],
  ["an epoch that falls", ["I7"], { events: [{ ...opened, epoch: 9 }, ...allowedCall] }],
  ["a task that began twice", ["I9"], { events: [started, started, finished, queued] }],
  ["a task that ended twice", ["I9"], { events: [started, finished, queued, finished, queued] }],
  ["a task that ended without a notice", ["I9"], { events: [started, finished] }],
  [
    "a task with two notices of its end",
    ["I9"],
    { events: [started, finished, queued, own("notice.queued", { ...queued.body, notice: "n_2" })] },
  ],
  ["a task that is left running", ["I9"], { events: [started, paused, resumed] }],
  ["a task that is left half cancelled", ["I9"], { events: [started, own("task.cancelling", { task: "t_1", by: "person" })] }],
  ["a task that goes on after its end", ["I9"], { events: [started, finished, queued, resumed] }],
  ["a notice that is told twice", ["I9"], { events: [started, finished, queued, said, told, said, told] }],
  ["a notice that nobody queued", ["I9"], { events: [said, told] }],
  ["a notice that is told without a message", ["I9"], { events: [started, finished, queued, told] }],
  ["two calls in one place of a turn", ["I8"], { events: [...allowedCall, proposed("c2"), ended("c2", "invalid")] }],
  [
    "a turn that begins before the last one has its results",
    ["I8"],
    { events: [proposed("c1"), judged("c1"), claimed("c1"), proposed("c2", { turn: 2 }), ended("c2", "invalid"), ended("c1")] },
  ],
  ["an answer acknowledged and not stored", ["I10"], { events: allowedCall, client: [{ id: "a_c1", outcome: "approved" }] }],
  ["another answer acknowledged than the one stored", ["I10"], { events: approvedCall, client: [{ id: "a_c1", outcome: "rejected" }] }],
  [
    "parked was said and no approval is open",
    ["I10"],
    { events: allowedCall, client: [{ sessionId: S, callId: "c1", outcome: "waiting", approvalId: "a_c1" }] },
  ],
  [
    "a result was told and no end is stored",
    ["I10"],
    { events: [...approvedCall.slice(0, 3)], client: [{ sessionId: S, callId: "c1", outcome: "succeeded" }] },
  ],
  [
    "a call was told not to have run, and it had an effect",
    ["I10"],
    { events: allowedCall, world: [line("c1")], client: [{ sessionId: S, callId: "c1", outcome: "denied", type: "store_unavailable" }] },
  ],
];

const rooms: string[] = [];
after(() => {
  for (const room of rooms) rmSync(room, { recursive: true, force: true });
});

describe("the checker finds nothing in", () => {
  for (const [sentence, story] of HOLDS) test(sentence, () => assert.deepEqual(check(write(story)), { ok: true, violations: [] }));
});

describe("the checker finds", () => {
  for (const [sentence, invariants, story] of FAILS) {
    test(`${invariants.join(", ")}: ${sentence}`, () => {
      const { ok, violations } = check(write(story));
      assert.equal(ok, false);
      assert.deepEqual([...new Set(violations.map(({ invariant }) => invariant))].sort(), invariants, JSON.stringify(violations));
    });
  }
});

describe("the checker as a program", () => {
  const run = (...args: string[]) => spawnSync(process.execPath, [join(import.meta.dirname, "check.ts"), ...args], { encoding: "utf8" });

  test("prints the report and exits 0 when all holds", () => {
    const { store, world, clientLog } = write({ events: approvedCall, world: [line("c1")], client: [{ id: "a_c1", outcome: "approved" }] });
    const { status, stdout } = run(store, world, "--client-log", clientLog);
    assert.deepEqual([status, JSON.parse(stdout)], [0, { ok: true, violations: [] }]);
  });

  test("exits 1 and names invariant, session and seq", () => {
    const { store, world } = write({ events: [proposed("c1")] });
    const { status, stdout } = run(store, world);
    const { violations } = JSON.parse(stdout);
    assert.equal(status, 1);
    assert.deepEqual([violations[0].invariant, violations[0].session, violations[0].seq], ["I1", S, 2]);
  });

  test("exits 2 without its arguments", () => assert.equal(run().status, 2));

  test("an empty ledger is not a checked one", () => {
    const { store, world } = write({ events: [], spoil: "delete from events" });
    assert.notEqual(run(store, world).status, 0);
  });
});

describe("the checker reads what the store writes", () => {
  test("an approved call whose input is too large for a row, and a waiting one", async () => {
    const store = mkdtempSync(join(tmpdir(), "assent-check-"));
    rooms.push(store);
    const ledger = await openLedger({ directory: store });
    const holder = { pid: process.pid, host: hostname(), processStart: "now", door: "test" };
    const large = { ...REQUEST, input: { command: "x".repeat(70_000), own: { $blob: "not ours" } } };
    const covers = fingerprint(large);
    const lease = await ledger.acquire(S, holder);
    const begin = [createdDraft({ policy: "r1" }), ...["c1", "c2"].map((call, index) => proposedDraft(call, { index }))];
    const ask = { ...large, fingerprint: covers, verdict: "ask", policy: "r1" } as const;
    const opening = ["c1", "c2"].flatMap((call) => [judgedDraft(call, ask), openedDraft(call, { fingerprint: covers })]);
    await ledger.append(lease, 0, { events: [...begin, ...opening], durability: "full" });
    const answer = await ledger.answer([answeredDraft(S, "c1", { fingerprint: covers })]);
    assert.ok("won" in answer && answer.won[0]);
    const claim = await ledger.claim(lease, 7, claimedDraft("c1", { fingerprint: covers, answer: { pos: answer.won[0].pos } }));
    assert.ok("won" in claim);
    await ledger.append(lease, 8, { events: [endedDraft("c1")], durability: "normal" });
    const world = join(store, "world.jsonl");
    writeFileSync(world, `${JSON.stringify(line("c1"))}\n`);
    assert.deepEqual(check({ store, world }), { ok: true, violations: [] }, "while the store is open");
    await ledger.close();
    assert.deepEqual(check({ store, world }), { ok: true, violations: [] }, "after it was closed");
  });
});

function own(type: string, body: Body): Event {
  return { session: S, type, body };
}

function shared(type: string, body: Body): Event {
  return { session: SHARED, type, body };
}

function fingerprint({ tool, toolDigest, input, cwd, binds }: { [K in keyof typeof REQUEST]: Json }): string {
  return sha256(canonicalJson({ tool, toolDigest, input, cwd, binds }));
}

function insertBlob(hashed: string, kept: string): string {
  return `insert into blobs values ('${sha256(hashed)}', x'${Buffer.from(kept).toString("hex")}')`;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function write({ events, world = [], client = [], spoil }: Story): { store: string; world: string; clientLog: string } {
  const store = mkdtempSync(join(tmpdir(), "assent-check-"));
  rooms.push(store);
  const database = new DatabaseSync(join(store, "ledger.db"));
  database.exec(`
    create table meta (key text primary key, value text not null);
    create table blobs (sha text primary key, bytes blob not null);
    create table events (pos integer primary key, session text, seq integer, epoch integer, at text, type text, v integer, body text, prev text, hash text)`);
  database.prepare("insert into meta values ('store', ?)").run(STORE_ID);
  const heads = new Map<string, { seq: number; hash: string }>();
  const insert = database.prepare(
    "insert into events (session, seq, epoch, at, type, v, body, prev, hash) values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  for (const { session, type, body, epoch = 1, ...link } of [created, opened, ...events]) {
    const head = heads.get(session) ?? { seq: 0, hash: "0".repeat(64) };
    const { seq, prev } = { seq: head.seq + 1, prev: head.hash, ...link };
    const [at, v] = ["2026-01-31T08:00:00.000Z", 1];
    const plain = JSON.parse(JSON.stringify(body));
    const hash = sha256(canonicalJson({ at, body: plain, epoch, prev, seq, session, store: STORE_ID, type, v }));
    insert.run(session, seq, epoch, at, type, v, canonicalJson(plain), prev, hash);
    heads.set(session, { seq, hash });
  }
  if (spoil !== undefined) database.exec(spoil);
  database.close();
  const files = { store, world: join(store, "world.jsonl"), clientLog: join(store, "client.jsonl") };
  writeFileSync(files.world, world.map((each) => `${JSON.stringify(each)}\n`).join(""));
  writeFileSync(files.clientLog, client.map((each) => `${JSON.stringify(each)}\n`).join(""));
  return files;
}
