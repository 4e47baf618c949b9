import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { answeredDraft, closedSessionDraft, endedDraft, grantedDraft, judgedDraft, openedDraft, proposedDraft } from "@assent/core/testing";
import { pruneStore } from "../src/prune.ts";
import { verifyStore } from "../src/verify.ts";
import { A, B, begin, madeLedger, readAll, tamper } from "./made-store.ts";

const DAY = 86_400_000;
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
  assert.deepEqual(await pruneStore({ directory, olderThan: 365 * DAY, clock: LATER }), { sessions: 0, bytes: 0 });
  await begin(ledger, A);
  assert.deepEqual(await pruneStore({ directory, olderThan: DAY, clock: LATER }), { sessions: 0, bytes: 0 });
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
