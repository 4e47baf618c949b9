import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { Ledger, StoredEvent } from "@assent/core";
import {
  answeredDraft,
  claimedDraft,
  closedSessionDraft,
  createdDraft,
  draftOf,
  endedDraft,
  judgedDraft,
  openedDraft,
  proposedDraft,
} from "@assent/core/testing";
import { openLedger, readLedgerCopy, verifyStore, writeLedgerCopy } from "@assent/store";
import { openPostgresLedger, prunePostgres, readPostgresCopy, verifyPostgres, writePostgresCopy } from "../src/index.ts";
import { freshSchema, scratch, thisHolder } from "./made-ledger.ts";
import { startPostgres } from "./postgres-server.ts";

const server = await startPostgres(18);
const A = "s_aaaaaaaaaaaaaaaaaaaa";
const B = "s_bbbbbbbbbbbbbbbbbbbb";

/** A closed session with an approved call and a large value, and one that is open. */
async function fill(ledger: Ledger): Promise<void> {
  const holder = thisHolder();
  const begin = [createdDraft(), draftOf("session.opened", { ...holder, recovered: [] })];
  const closed = await ledger.acquire(A, holder);
  const asked = [proposedDraft("c1"), judgedDraft("c1", { verdict: "ask" }), openedDraft("c1")];
  await ledger.append(closed, 0, { events: [...begin, ...asked], durability: "full" });
  const outcome = await ledger.answer([answeredDraft(A, "c1")]);
  assert.ok("won" in outcome);
  await ledger.claim(closed, 5, claimedDraft("c1", { answer: { pos: outcome.won[0]?.pos ?? 0 } }));
  const large = draftOf("hook.ran", { event: "post_tool_use", hook: "x".repeat(200_000), outcome: "allow", durationMs: 0 });
  await ledger.append(closed, 6, { events: [endedDraft("c1"), large, closedSessionDraft()], durability: "full" });
  const open = await ledger.acquire(B, holder);
  await ledger.append(open, 0, { events: begin, durability: "normal" });
}

async function readAll(ledger: Ledger): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const event of ledger.read({ pos: 0 })) events.push(event);
  return events;
}

test("a ledger is copied from a directory to PostgreSQL and back with its chains, and every copy is sound", {
  timeout: 60_000,
}, async (t) => {
  const { directory, remove } = scratch();
  t.after(remove);
  const [source, target, local] = [join(directory, "a"), join(directory, "b"), join(directory, "local")];
  const url = server.url(freshSchema());
  const original = await openLedger({ directory: source });
  await fill(original);
  const events = await readAll(original);
  await original.close();
  const count = events.length;
  const head = await readLedgerCopy(source, (copy) => writePostgresCopy(url, copy));
  assert.ok(head >= count, "closing writes a checkpoint");
  const checked = await verifyPostgres({ url, directory: local });
  assert.deepEqual([checked.findings, checked.events], [[], head]);
  assert.equal(await readPostgresCopy(url, (copy) => writeLedgerCopy(target, copy)), head);
  assert.deepEqual((await verifyStore({ directory: target })).findings, []);
  const copied = await openPostgresLedger({ url, directory: local });
  assert.match(copied.warnings[0]?.message ?? "", /^This ledger is a copy/);
  assert.deepEqual((await readAll(copied)).slice(0, count), events);
  assert.equal(copied.storeId, checked.store);
  await copied.acquire(B, thisHolder(), true);
  await copied.close();
  assert.deepEqual((await verifyPostgres({ url, directory: local })).findings, []);
  await assert.rejects(
    readLedgerCopy(source, (copy) => writePostgresCopy(url, copy)),
    /already holds a ledger/,
  );
});

test("a copy whose target is slow is not ended by the time limit that other transactions have", { timeout: 60_000 }, async (t) => {
  const { directory, remove } = scratch();
  t.after(remove);
  const schema = freshSchema();
  const url = server.url(schema);
  await (await openPostgresLedger({ url, directory: join(directory, "local") })).close();
  const slow = `select clock_timestamp() - state_change > '6s' as over, pg_sleep(0.1) from pg_stat_activity
    where application_name = 'assent' and state = 'idle in transaction'`;
  const copied = await readPostgresCopy(url, async (copy) => {
    let seen: readonly { readonly over?: boolean }[] = [{}];
    while (seen.length > 0 && !seen.some(({ over }) => over)) seen = await server.sql(slow);
    return writeLedgerCopy(join(directory, "b"), copy);
  });
  assert.ok(copied > 0);
});

const TAMPERING: readonly (readonly [sentence: string, text: string, type: string])[] = [
  [
    "a changed body",
    `update events set body = replace(body, '"allow"', '"deny"') where type = 'call.ended' or type = 'hook.ran'`,
    "hash_mismatch",
  ],
  ["a removed event", "delete from events where session = 's_aaaaaaaaaaaaaaaaaaaa' and seq = 3", "gap"],
  [
    "an approval that the list calls unused",
    `update approvals set row = replace(row, '"consumed":true', '"consumed":false')`,
    "index_mismatch",
  ],
  ["a lost value", "delete from blobs", "blob_missing"],
  ["a counter that was set back", "update counter set pos = 1", "index_mismatch"],
  ["a counter that was set forward", "update counter set pos = pos + 1", "index_mismatch"],
];

for (const [sentence, text, type] of TAMPERING) {
  test(`verify finds ${sentence}`, { timeout: 60_000 }, async (t) => {
    const { directory, remove } = scratch();
    t.after(remove);
    const schema = freshSchema();
    const url = server.url(schema);
    const ledger = await openPostgresLedger({ url, directory });
    await fill(ledger);
    await ledger.close();
    assert.deepEqual((await verifyPostgres({ url, directory })).findings, []);
    await server.sql(`set search_path to ${schema}; ${text}`);
    const { ok, findings } = await verifyPostgres({ url, directory });
    assert.equal(ok, false);
    assert.ok(
      findings.some((found) => found.type === type),
      JSON.stringify(findings),
    );
  });
}

test("pruning removes an ended session, keeps its head, and marks of other machines still fit", { timeout: 60_000 }, async (t) => {
  const { directory, remove } = scratch();
  t.after(remove);
  const url = server.url(freshSchema());
  const [here, there] = [join(directory, "here"), join(directory, "there")];
  const ledger = await openPostgresLedger({ url, directory: here });
  await fill(ledger);
  await ledger.close();
  const dry = await prunePostgres({ url, directory: there, olderThan: 0, dryRun: true });
  assert.equal(dry.sessions, 1);
  assert.ok(dry.bytes > 200_000);
  assert.deepEqual(await prunePostgres({ url, directory: there, olderThan: 0 }), dry);
  assert.equal((await prunePostgres({ url, directory: there, olderThan: 0 })).sessions, 0);
  const again = await openPostgresLedger({ url, directory: here });
  assert.deepEqual(again.warnings, []);
  assert.deepEqual(
    (await again.pending("sessions", { all: true })).map(({ id }) => id),
    [B],
  );
  await again.close();
  assert.deepEqual((await verifyPostgres({ url, directory: here })).findings, []);
});

test("pruning removes more sessions than one transaction does", { timeout: 60_000 }, async (t) => {
  const { directory, remove } = scratch();
  t.after(remove);
  const url = server.url(freshSchema());
  const ledger = await openPostgresLedger({ url, directory });
  const holder = thisHolder();
  const events = [createdDraft(), draftOf("session.opened", { ...holder, recovered: [] }), closedSessionDraft()];
  const ids = Array.from({ length: 101 }, (_, at) => `s_${String(at).padStart(20, "x")}`);
  await Promise.all(ids.map(async (id) => ledger.append(await ledger.acquire(id, holder), 0, { events, durability: "normal" })));
  await ledger.close();
  assert.equal((await prunePostgres({ url, directory, olderThan: 0 })).sessions, ids.length);
  const { findings, events: left } = await verifyPostgres({ url, directory });
  assert.deepEqual(findings, []);
  assert.ok(left > ids.length && left < ids.length * 4);
});
