import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { TaskProcess } from "@assent/core";
import {
  claimedDraft,
  draftOf,
  endedDraft,
  judgedDraft,
  openedDraft,
  proposedDraft,
  stagedDraft,
  startedTaskDraft,
} from "@assent/core/testing";
import type { OpenDatabase } from "../src/database/database.ts";
import { type Migration, migrate, schemaState, schemaVersion } from "../src/database/migrate.ts";
import { INDEX_OF_4, SCHEMA_VERSION } from "../src/database/schema.ts";
import { openLedger } from "../src/open/open-ledger.ts";
import { recordMigration } from "../src/open/open-store.ts";
import { verifyStore } from "../src/verify/verify.ts";
import { A, begin, madeLedger, readAll, scratch, sqliteError, tamper } from "./made-store.ts";
import { intoVersionOne } from "./version-one.ts";

const NOW = SCHEMA_VERSION;
const NEXT: Migration = { from: NOW, up: (database) => database.exec("create table extra (a text) strict") };
const AFTER_NEXT: Migration = { from: NOW + 1, up: (database) => database.exec("insert into extra (a) values ('a')") };

async function presentStore(t: Parameters<typeof scratch>[0]): Promise<string> {
  const directory = await scratch(t);
  const ledger = await openLedger({ directory });
  const writer = await begin(ledger);
  await writer.append(proposedDraft("c1", { raw: "x".repeat(70_000) }), judgedDraft("c1", { verdict: "ask" }), openedDraft("c1"));
  await ledger.close();
  return directory;
}

async function storeOfVersionOne(t: Parameters<typeof scratch>[0]): Promise<string> {
  const directory = await presentStore(t);
  intoVersionOne(directory);
  return directory;
}

function step(directory: string, migrations: readonly Migration[]): void {
  const record = (database: DatabaseSync) => (from: number, to: number) =>
    recordMigration(database, { from, to, at: "2026-01-01T00:00:00.000Z" });
  tamper(directory, (database) => migrate(database, { file: join(directory, "ledger.db"), migrations, record: record(database) }));
}

test("each missing step is taken in order, recorded on the shared chain, and the file before it kept", async (t) => {
  const directory = await presentStore(t);
  const before = tamper(directory, (database) => database.prepare("select count(*) as n from events").get()?.["n"]);
  step(directory, [NEXT, AFTER_NEXT]);
  tamper(directory, (database) => {
    assert.equal(schemaVersion(database), NOW + 2);
    const recorded = database.prepare("select body from events where type = 'store.migrated' order by pos").all();
    assert.deepEqual(
      recorded.map(({ body }) => body),
      [`{"from":${NOW},"to":${NOW + 1}}`, `{"from":${NOW + 1},"to":${NOW + 2}}`],
    );
  });
  for (const version of [NOW, NOW + 1]) {
    const copy = join(directory, `ledger.db.v${version}`);
    assert.equal((statSync(copy).mode & 0o777).toString(8), "600");
    const database = new DatabaseSync(copy);
    assert.equal(schemaVersion(database), version);
    assert.equal(database.prepare("select count(*) as n from events").get()?.["n"], Number(before) + version - NOW);
    database.close();
  }
});

test("a step that fails leaves the old version whole, and can be taken again", async (t) => {
  const directory = await presentStore(t);
  const failing: Migration = {
    from: NOW,
    up: (database) => {
      NEXT.up(database);
      throw new Error("half-way");
    },
  };
  assert.throws(() => step(directory, [failing]), /half-way/);
  tamper(directory, (database) => {
    assert.equal(schemaVersion(database), NOW);
    assert.equal(database.prepare("select 1 from sqlite_schema where name = 'extra'").get(), undefined);
  });
  await (await openLedger({ directory })).close();
  step(directory, [NEXT]);
  tamper(directory, (database) => assert.equal(schemaVersion(database), NOW + 1));
});

test("nothing is copied or written when there is no step to take", async (t) => {
  const directory = await presentStore(t);
  const before = readFileSync(join(directory, "ledger.db"));
  step(directory, [AFTER_NEXT]);
  assert.ok(!existsSync(join(directory, `ledger.db.v${NOW}`)));
  assert.deepEqual(readFileSync(join(directory, "ledger.db")), before);
});

test("a database is empty, older, current or newer", async (t) => {
  const directory = await presentStore(t);
  tamper(directory, (database) =>
    assert.deepEqual(
      [NOW - 1, NOW, NOW + 1].map((known) => schemaState(database, known)),
      ["newer", "current", "older"],
    ),
  );
  const empty = new DatabaseSync(":memory:");
  assert.equal(schemaState(empty), "empty");
  empty.close();
});

const WITHOUT_PROCESSES = "drop trigger process_recorded; drop trigger process_deleted; drop table processes;";

test("a store of version 5 gains the table of processes, filled from its events", async (t) => {
  const directory = await scratch(t);
  const old = await openLedger({ directory });
  const writer = await begin(old);
  await writer.append(startedTaskDraft("t_1"), draftOf("task.process", { task: "t_1", ...processOf(41), others: [processOf(42)] }));
  await old.close();
  tamper(directory, (database) => database.exec(`${WITHOUT_PROCESSES} pragma user_version=5`));
  const ledger = await madeLedger(t, { directory });
  for (const process of [41, 42]) assert.equal((await readAll(ledger, { pos: 0 }, { process })).length, 1);
  assert.deepEqual(
    tamper(directory, (database) =>
      database
        .prepare("select pid from processes")
        .all()
        .map(({ pid }) => pid),
    ),
    [41, 42],
  );
});

function processOf(pid: number): TaskProcess {
  return { pid, pgid: pid, processStart: `boot:${pid}` };
}

test("a store of version 1 opens, keeps what it has and gains empty lists of proposals and questions", async (t) => {
  const directory = await storeOfVersionOne(t);
  const ledger = await madeLedger(t, { directory });
  assert.deepEqual(
    (await ledger.pending("approvals")).map(({ id }) => id),
    ["a_c1"],
  );
  assert.deepEqual([await ledger.pending("proposals"), await ledger.pending("questions")], [[], []]);
  const [proposed] = await readAll(ledger, { session: A, seq: 2 });
  assert.equal((await ledger.resolve(proposed?.body ?? {}))["raw"], "x".repeat(70_000));
  const writer = await begin(ledger, A, true);
  await writer.append(stagedDraft("p_1"));
  assert.equal((await ledger.pending("proposals")).length, 1);
  const [migrated] = await readAll(ledger, { pos: 0 }, { types: ["store.migrated"] });
  assert.deepEqual(migrated?.body, { from: 1, to: 2 });
  assert.ok(existsSync(join(directory, "ledger.db.v1")));
  assert.deepEqual((await verifyStore({ directory })).findings, []);
});

test("a store of version 1 has the tables of a new one after it was migrated", async (t) => {
  const tables = (database: DatabaseSync): unknown =>
    ["events", "proposals", "questions", "approvals", "blob_uses"].map((table) => [
      database.prepare(`pragma table_xinfo(${table})`).all(),
      database
        .prepare("select name from sqlite_schema where type = 'index' and tbl_name = ? order by name")
        .all(table)
        .map(({ name }) => name),
    ]);
  const old = await storeOfVersionOne(t);
  await (await openLedger({ directory: old })).close();
  assert.deepEqual(tamper(old, tables), tamper(await presentStore(t), tables));
});

test("verify reads a store of version 1 as it is, and a rebuild migrates it", async (t) => {
  const directory = await storeOfVersionOne(t);
  assert.deepEqual((await verifyStore({ directory })).findings, []);
  tamper(directory, (database) => assert.equal(schemaVersion(database), 1));
  assert.deepEqual((await verifyStore({ directory, rebuild: true })).findings, []);
  tamper(directory, (database) => assert.equal(schemaVersion(database), SCHEMA_VERSION));
});

test("a store of version 1 that cannot be written is read: its lists of proposals and questions are empty", async (t) => {
  const directory = await storeOfVersionOne(t);
  const openDatabase: OpenDatabase = (file, options) => {
    if (options.readOnly) return new DatabaseSync(file, options);
    throw sqliteError(8, "attempt to write a readonly database");
  };
  const ledger = await madeLedger(t, { directory, openDatabase });
  assert.equal((await readAll(ledger, { session: A, seq: 0 })).length, 5);
  assert.equal((await ledger.pending("approvals")).length, 1);
  assert.deepEqual([await ledger.pending("proposals", { session: A, prefix: "p_" }), await ledger.pending("questions")], [[], []]);
  await assert.rejects(begin(ledger, A, true), { type: "store_readonly" });
});

test("a store of version 4 opens, and a call that was running in it ends and is found again", async (t) => {
  const directory = await presentStore(t);
  const old = await openLedger({ directory });
  const before = await begin(old, A, true);
  await before.append(proposedDraft("c2"), judgedDraft("c2"));
  await before.claim(claimedDraft("c2"));
  await old.close();
  tamper(directory, (database) => {
    database.exec(`drop index events_rare_type; ${INDEX_OF_4} ${WITHOUT_PROCESSES} pragma user_version=4`);
    database.exec("update events set call = json_extract(body, '$.call')"); // version 4 indexed every event of a call
  });
  assert.deepEqual((await verifyStore({ directory })).findings, []);
  const ledger = await madeLedger(t, { directory });
  const writer = await begin(ledger, A, true);
  await writer.append(endedDraft("c2"));
  const found = await readAll(ledger, { session: A, seq: 0 }, { session: A, call: "c2" });
  assert.deepEqual(
    found.map(({ type }) => type),
    ["call.proposed", "call.judged", "call.claimed", "call.ended"],
  );
  const other = await madeLedger(t, { directory });
  await assert.rejects((await begin(other, A, true)).append(proposedDraft("c2")), { type: "event_invalid" });
  assert.deepEqual((await verifyStore({ directory })).findings, []);
});
