import assert from "node:assert/strict";
import { chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Lease, Ledger } from "@assent/core";
import { answeredDraft, claimedDraft, createdDraft, draftOf, judgedDraft, openedDraft, proposedDraft } from "@assent/core/testing";
import type { StoreExtras, StoreWarning } from "@assent/store";
import { openPostgresLedger, verifyPostgres } from "../src/index.ts";
import { freshSchema, scratch, thisHolder } from "./made-ledger.ts";
import { startPostgres } from "./postgres-server.ts";

const server = await startPostgres(18);
const SESSION = "s_aaaaaaaaaaaaaaaaaaaa";

/** A session with two approved calls, neither claimed. Returns the position of the first answer. */
async function approveTwo(ledger: Ledger): Promise<{ readonly lease: Lease; readonly pos: number }> {
  const holder = thisHolder();
  const lease = await ledger.acquire(SESSION, holder);
  const calls = ["c1", "c2"].flatMap((call) => [proposedDraft(call), judgedDraft(call, { verdict: "ask" }), openedDraft(call)]);
  await ledger.append(lease, 0, {
    events: [createdDraft(), draftOf("session.opened", { ...holder, recovered: [] }), ...calls],
    durability: "full",
  });
  const outcome = await ledger.answer([answeredDraft(SESSION, "c1")]);
  await ledger.answer([answeredDraft(SESSION, "c2")]);
  assert.ok("won" in outcome);
  return { lease, pos: outcome.won[0]?.pos ?? 0 };
}

type Scene = {
  readonly open: (database?: string) => Promise<Ledger & StoreExtras>;
  readonly schema: string;
  readonly directory: string;
  /** Warnings after the ledger was opened. */
  readonly later: readonly StoreWarning[];
};

function makeScene(t: TestContext): Scene {
  const { directory, remove } = scratch();
  const schema = freshSchema();
  const opened: Ledger[] = [];
  const later: StoreWarning[] = [];
  t.after(async () => {
    for (const ledger of opened) await ledger.close();
    remove();
  });
  return {
    schema,
    directory,
    later,
    open: async (database) => {
      const onWarning = (warning: StoreWarning): void => void later.push(warning);
      const ledger = await openPostgresLedger({ url: server.url(schema, database), directory, onWarning });
      opened.push(ledger);
      return ledger;
    },
  };
}

async function statesOf(ledger: Ledger): Promise<readonly string[]> {
  return (await ledger.pending("approvals", { all: true })).map(({ state, consumed }) => (consumed ? "used" : state));
}

const RESTORED = /^This ledger is a copy or a restored backup\. 2 open approvals and unused answers were cancelled\.$/;

test("a database that was only opened again keeps its answers", { timeout: 60_000 }, async (t) => {
  const { open } = makeScene(t);
  const ledger = await open();
  await approveTwo(ledger);
  await ledger.close();
  await server.restart("in order");
  const again = await open();
  assert.deepEqual(again.warnings, []);
  assert.deepEqual(await statesOf(again), ["approved", "approved"]);
});

test("a copy of the database does not use answers that the original may have used", { timeout: 60_000 }, async (t) => {
  const { open } = makeScene(t);
  await server.sql("create database origin");
  const ledger = await open("origin");
  await approveTwo(ledger);
  await ledger.close();
  await server.sql("create database restored template origin");
  const copy = await open("restored");
  assert.match(copy.warnings[0]?.message ?? "", RESTORED);
  assert.deepEqual(await statesOf(copy), ["cancelled", "cancelled"]);
});

test("tables that were dropped and restored in place do not use an answer again, and one warning says so", {
  timeout: 60_000,
}, async (t) => {
  const { open, schema, later } = makeScene(t);
  const ledger = await open();
  await approveTwo(ledger);
  await ledger.close();
  await server.sql(
    `set search_path to ${schema}; create table kept as select * from events; drop table events; create table events (like kept); insert into events select * from kept; drop table kept`,
  );
  const restored = await open();
  assert.deepEqual(
    restored.warnings.map(({ message }) => RESTORED.test(message)),
    [true],
  );
  assert.deepEqual(later, []);
  assert.deepEqual(await statesOf(restored), ["cancelled", "cancelled"]);
});

test("rows that were set back are noticed by a mark of this machine, once", { timeout: 60_000 }, async (t) => {
  const { open, schema } = makeScene(t);
  const ledger = await open();
  const { lease, pos } = await approveTwo(ledger);
  await server.sql(`create schema backup; create table backup.events as select * from ${schema}.events; create table backup.counter as select * from ${schema}.counter;
    create table backup.sessions as select * from ${schema}.sessions; create table backup.approvals as select * from ${schema}.approvals`);
  assert.ok("won" in (await ledger.claim(lease, 8, claimedDraft("c1", { answer: { pos } }))));
  await ledger.close();
  await server.sql(
    ["events", "counter", "sessions", "approvals"]
      .map((table) => `truncate ${schema}.${table}; insert into ${schema}.${table} select * from backup.${table}`)
      .join(";"),
  );
  const restored = await open();
  assert.match(restored.warnings[0]?.message ?? "", RESTORED);
  assert.deepEqual(await statesOf(restored), ["cancelled", "cancelled"]);
  await restored.close();
  assert.deepEqual((await open()).warnings, []);
});

test("a claim notices that the database was set back while the ledger was open", { timeout: 60_000 }, async (t) => {
  const { open, directory } = makeScene(t);
  const ledger = await open();
  const { lease, pos } = await approveTwo(ledger);
  const marks = join(directory, "postgres", ledger.storeId, "marks");
  mkdirSync(marks, { recursive: true });
  writeFileSync(join(marks, `99-${"0".repeat(64)}`), "");
  await assert.rejects(ledger.claim(lease, 8, claimedDraft("c1", { answer: { pos } })), /An older copy of the ledger was put in its place/);
  assert.deepEqual(await statesOf(ledger), ["approved", "approved"]);
});

test("rows that were set back without a trace are closed by the step of the documentation", { timeout: 60_000 }, async (t) => {
  const { open, schema } = makeScene(t);
  const ledger = await open();
  await approveTwo(ledger);
  await ledger.close();
  const step = readFileSync(join(import.meta.dirname, "../../../examples/operations/restored.sql"), "utf8");
  await server.sql(step.replace("assent.", `${schema}.`));
  const restored = await open();
  assert.match(restored.warnings[0]?.message ?? "", RESTORED);
  assert.deepEqual(await statesOf(restored), ["cancelled", "cancelled"]);
  await restored.close();
  assert.deepEqual((await open()).warnings, []);
});

test("a dump that is restored on another server does not use an approval that was used after the dump", { timeout: 60_000 }, async (t) => {
  const { open, schema, directory } = makeScene(t);
  const ledger = await open();
  const { lease, pos } = await approveTwo(ledger);
  const dump = await dumpRows(schema);
  assert.ok("won" in (await ledger.claim(lease, 8, claimedDraft("c1", { answer: { pos } }))));
  await ledger.close();
  const other = await startPostgres(15);
  const url = other.url(schema);
  await (await openPostgresLedger({ url, directory: join(directory, "other") })).close();
  for (const [table, rows] of dump)
    await other.sql(
      `truncate ${schema}.${table}; insert into ${schema}.${table} select * from json_populate_recordset(null::${schema}.${table}, '${rows.replaceAll("'", "''")}')`,
    );
  const restored = await openPostgresLedger({ url, directory: join(directory, "other") });
  t.after(restored.close);
  assert.match(restored.warnings[0]?.message ?? "", RESTORED);
  assert.deepEqual(await statesOf(restored), ["cancelled", "cancelled"]);
  assert.deepEqual((await verifyPostgres({ url, directory: join(directory, "other") })).findings, []);
});

/** The rows of all tables as `pg_dump` sees them, at one moment. */
async function dumpRows(schema: string): Promise<readonly (readonly [table: string, rows: string])[]> {
  const tables = await server.sql(`select tablename as name from pg_tables where schemaname = '${schema}'`);
  const dump: [string, string][] = [];
  for (const table of tables) {
    const name = String(Reflect.get(table, "name"));
    const [row] = await server.sql(`select coalesce(json_agg(t), '[]')::text as rows from ${schema}.${name} t`);
    dump.push([name, String(row && Reflect.get(row, "rows"))]);
  }
  return dump;
}

test("a recovered server has another timeline, so its answers are not used", { timeout: 60_000 }, async (t) => {
  const { open } = makeScene(t);
  const ledger = await open();
  await approveTwo(ledger);
  await ledger.close();
  await server.sql("alter system set restore_command = 'false'");
  await server.stop();
  const signal = join(server.socket, "data/recovery.signal");
  writeFileSync(signal, "");
  if (process.getuid?.() === 0) chownSync(signal, 65_534, 65_534); // the server runs as this user
  await server.start();
  const restored = await open();
  assert.match(restored.warnings[0]?.message ?? "", RESTORED);
  assert.deepEqual(await statesOf(restored), ["cancelled", "cancelled"]);
});
