import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { judgedDraft, openedDraft, proposedDraft } from "@assent/core/testing";
import { type Migration, migrate, schemaState, schemaVersion } from "../src/database/migrate.ts";
import { SCHEMA_VERSION } from "../src/database/schema.ts";
import { openLedger } from "../src/open/open-ledger.ts";
import { recordMigration } from "../src/open/open-store.ts";
import { begin, scratch, tamper } from "./made-store.ts";

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
