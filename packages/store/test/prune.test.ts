import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Draft } from "@assent/core";
import {
  answeredDraft,
  askedDraft,
  claimedDraft,
  closedSessionDraft,
  createdDraft,
  endedDraft,
  endedTaskDraft,
  grantedDraft,
  judgedDraft,
  openedDraft,
  proposedDraft,
  startedTaskDraft,
} from "@assent/core/testing";
import { pruneStore } from "../src/prune/prune.ts";
import { verifyStore } from "../src/verify/verify.ts";
import { A, B, begin, madeLedger, readAll, tamper } from "./made-store.ts";

const DAY = 86_400_000;
const NOTHING_KEPT = { fork: 0, task: 0, person: 0, unended: 0 };
const LATER = { now: () => Date.parse("2026-03-01T00:00:00.000Z") };

/** A session with a question, an answer, a value and an output, closed for `reason`. */
async function lived(ledger: Awaited<ReturnType<typeof madeLedger>>, session: string, reason?: "done" | "parked"): Promise<void> {
  const writer = await begin(ledger, session);
  const approval = `a_${session}`;
  await writer.append(
    proposedDraft("c1", { raw: session.repeat(5_000) }),
    judgedDraft("c1", { verdict: "ask" }),
    openedDraft("c1", { approval }),
  );
  await ledger.answer([answeredDraft(session, "c1", { approval, outcome: "rejected" }), grantedDraft(`g_${session}`, { uses: 3 })]);
  await ledger.answer([{ type: "grant.used", v: 1, at: "2026-01-01T00:00:00.000Z", body: { grant: `g_${session}`, session, call: "c1" } }]);
  await writer.append(endedDraft("c1", { outcome: "rejected" }));
  if (reason) await writer.append(closedSessionDraft(reason));
  const output = join(ledger.directory, "output", session);
  mkdirSync(output, { recursive: true, mode: 0o700 });
  writeFileSync(join(output, "c1.txt"), "x".repeat(1_000));
}

test("an ended session goes with its events, values and outputs; its head stays, and nobody misses it", async (t) => {
  const ledger = await madeLedger(t);
  const { directory } = ledger;
  await lived(ledger, A, "done");
  await lived(ledger, B, "parked");
  const [head] = (await verifyStore({ directory })).heads.filter(({ session }) => session === A);
  const dry = await pruneStore({ directory, olderThan: 30 * DAY, dryRun: true, clock: LATER });
  assert.equal((await readAll(ledger, { session: A, seq: 0 })).length, 7);
  const report = await pruneStore({ directory, olderThan: 30 * DAY, clock: LATER });
  assert.deepEqual(report, dry);
  assert.equal(report.sessions, 1);
  assert.ok(report.bytes > 110_000 && report.bytes < 130_000, `${report.bytes}`);
  assert.deepEqual(await readAll(ledger, { session: A, seq: 0 }), []);
  assert.equal((await readAll(ledger, { session: B, seq: 0 })).length, 7);
  assert.deepEqual([existsSync(join(directory, "output", A)), existsSync(join(directory, "output", B))], [false, true]);
  assert.deepEqual(
    (await ledger.pending("sessions", { all: true })).map(({ id }) => id),
    [B],
  );
  assert.deepEqual(
    (await ledger.pending("approvals", { all: true })).map(({ session }) => session),
    [B],
  );
  assert.equal((await ledger.pending("grants")).length, 2);
  tamper(directory, (database) => assert.equal(database.prepare("select count(*) as n from blobs").get()?.["n"], 1));
  const [pruned] = await readAll(ledger, { pos: 0 }, { types: ["store.pruned"] });
  assert.deepEqual(pruned?.body, { ...head });
  assert.deepEqual((await verifyStore({ directory })).findings, []);
  assert.deepEqual((await verifyStore({ directory, rebuild: true })).findings, []);
  await assert.rejects(begin(ledger, A), { type: "session_not_found" });
});

test("what is not old enough, not ended or held stays", async (t) => {
  const ledger = await madeLedger(t);
  const { directory } = ledger;
  await lived(ledger, A, "done");
  await lived(ledger, B);
  assert.deepEqual(await pruneStore({ directory, olderThan: 365 * DAY, clock: LATER }), { sessions: 0, bytes: 0, kept: NOTHING_KEPT });
  await begin(ledger, A);
  const kept = { ...NOTHING_KEPT, unended: 2 };
  assert.deepEqual(await pruneStore({ directory, olderThan: DAY, clock: LATER }), { sessions: 0, bytes: 0, kept });
  assert.equal((await readAll(ledger, { session: A, seq: 0 })).length, 7);
});

test("a value that another session uses stays", async (t) => {
  const ledger = await madeLedger(t);
  const raw = "shared".repeat(20_000);
  for (const session of [A, B]) {
    const writer = await begin(ledger, session);
    await writer.append(proposedDraft("c1", { raw }), endedDraft("c1", { outcome: "cancelled" }));
    if (session === A) await writer.append(closedSessionDraft());
  }
  await pruneStore({ directory: ledger.directory, olderThan: DAY, clock: LATER });
  const [event] = await readAll(ledger, { session: B, seq: 2 });
  assert.equal((await ledger.resolve(event?.body ?? {}))["raw"], raw);
});

test("pruning makes no store where there is none", async (t) => {
  const { directory } = await madeLedger(t);
  await assert.rejects(pruneStore({ directory: join(directory, "none"), olderThan: 0 }), { code: "ENOENT" });
});

const HOLDER = { pid: 1, host: "elsewhere", processStart: "1", door: "test" };
const CLOSED = closedSessionDraft();

/** Sessions made of these events each, in this order; which of them are left after pruning, and what was said to be kept. */
const FAMILIES: readonly (readonly [
  sentence: string,
  made: Record<string, readonly Draft[]>,
  left: string,
  kept: Partial<typeof NOTHING_KEPT>,
])[] = [
  ["a session that ended at a limit goes", { root: [closedSessionDraft("limit")] }, "", {}],
  ["a parked session in which nothing waits stays, and is counted", { root: [closedSessionDraft("parked")] }, "root", { unended: 1 }],
  [
    "the session of a task goes with the one that started it",
    { root: [...task("t_1", true), CLOSED], child: [of("root"), CLOSED] },
    "",
    {},
  ],
  ["a task's session that nobody closed goes with its root", { root: [...task("t_1", true), CLOSED], child: [of("root")] }, "", {}],
  [
    "a task's session stays while its root is not over",
    { root: task("t_1", true), child: [of("root"), CLOSED] },
    "root child",
    { unended: 2 },
  ],
  [
    "nothing of a family goes while a task of it has not ended",
    { root: [...task("t_1", false), CLOSED], child: [of("root"), CLOSED] },
    "root child",
    { task: 2 },
  ],
  [
    "nothing of a family goes while a task's own task has not ended",
    {
      root: [...task("t_1", true), CLOSED],
      child: [of("root"), ...task("t_2", false).slice(1), CLOSED],
      grandchild: [of("child"), CLOSED],
    },
    "root child grandchild",
    { task: 3 },
  ],
  [
    "nothing of a family goes while somebody is asked in it",
    { root: [createdDraft(), CLOSED], child: [of("root"), ...asking("q_1"), CLOSED] },
    "root child",
    { person: 2 },
  ],
  ["a task's session whose root is gone goes alone", { child: [of("gone"), CLOSED] }, "", {}],
  [
    "a session stays in which a fork begins that stays",
    { root: [createdDraft(), CLOSED], fork: [from("root")] },
    "root fork",
    { fork: 1, unended: 1 },
  ],
  ["a fork that is over goes with its origin", { root: [createdDraft(), CLOSED], fork: [from("root"), CLOSED] }, "", {}],
  ["a fork goes while its origin stays", { root: [createdDraft()], fork: [from("root"), CLOSED] }, "root", { unended: 1 }],
  [
    "what a fork of a fork begins with stays",
    { root: [createdDraft(), CLOSED], fork: [from("root"), CLOSED], second: [from("fork")] },
    "root fork second",
    { fork: 2, unended: 1 },
  ],
  [
    "a family stays when a fork begins in a task's session of it",
    { root: [...task("t_1", true), CLOSED], child: [of("root"), CLOSED], fork: [from("child")] },
    "root child fork",
    { fork: 2, unended: 1 },
  ],
  [
    "a task that begins with the conversation of its starter holds nothing up",
    { root: [createdDraft(), CLOSED], child: [of("root", true)] },
    "",
    {},
  ],
];

function idOf(name: string): string {
  return `s_${name.padEnd(20, "a")}`;
}

function of(root: string, forked = false): Draft {
  const session = idOf(root);
  return createdDraft({ parent: { session, call: "c1", task: "t_1" }, ...(forked && { forked: { session, seq: 1 } }) });
}

function from(root: string): Draft {
  return createdDraft({ forked: { session: idOf(root), seq: 1 } });
}

function task(id: string, ended: boolean): readonly Draft[] {
  return [createdDraft(), startedTaskDraft(id), ...(ended ? [endedTaskDraft(id)] : [])];
}

function asking(question: string): readonly Draft[] {
  return [proposedDraft("c1"), judgedDraft("c1"), claimedDraft("c1"), askedDraft(question, "c1")];
}

for (const [sentence, made, left, kept] of FAMILIES) {
  test(`pruning: ${sentence}`, async (t) => {
    const ledger = await madeLedger(t);
    const { directory } = ledger;
    for (const [name, events] of Object.entries(made)) {
      const lease = await ledger.acquire(idOf(name), HOLDER);
      let head = 0;
      for (const event of events) {
        if (event.type === "call.claimed") await ledger.claim(lease, head, event);
        else await ledger.append(lease, head, { events: [event], durability: "full" });
        head += 1;
      }
    }
    const dry = await pruneStore({ directory, olderThan: DAY, dryRun: true, clock: LATER });
    const report = await pruneStore({ directory, olderThan: DAY, clock: LATER });
    assert.deepEqual(report, dry);
    const rows = (await ledger.pending("sessions", { all: true })).map(({ id }) => id);
    assert.deepEqual(
      Object.keys(made).filter((name) => rows.includes(idOf(name))),
      left.split(" ").filter(Boolean),
    );
    assert.deepEqual([report.sessions, report.kept], [Object.keys(made).length - rows.length, { ...NOTHING_KEPT, ...kept }]);
    assert.deepEqual((await verifyStore({ directory })).findings, []);
  });
}
