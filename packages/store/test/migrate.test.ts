import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { type Migration, migrate, schemaState, schemaVersion } from "../src/migrate.ts";
import { openLedger } from "../src/open-ledger.ts";
import { recordMigration } from "../src/open-store.ts";
import { begin, scratch, tamper } from "./made-store.ts";

const TO_TWO: Migration = { from: 1, up: (database) => database.exec("create table extra (a text) strict") };
const TO_THREE: Migration = { from: 2, up: (database) => database.exec("insert into extra (a) values ('three')") };

async function storeOfVersionOne(t: Parameters<typeof scratch>[0]): Promise<string> {
  const directory = await scratch(t);
  const ledger = await openLedger({ directory });
  await begin(ledger);
  await ledger.close();
  return directory;
}

function step(directory: string, migrations: readonly Migration[]): void {
  const record = (database: DatabaseSync) => (from: number, to: number) =>
    recordMigration(database, { from, to, at: "2026-01-01T00:00:00.000Z" });
  tamper(directory, (database) => migrate(database, { file: join(directory, "ledger.db"), migrations, record: record(database) }));
}

test("each missing step is taken in order, recorded on the shared chain, and the file before it kept", async (t) => {
  const directory = await storeOfVersionOne(t);
  const before = tamper(directory, (database) => database.prepare("select count(*) as n from events").get()?.["n"]);
  step(directory, [TO_TWO, TO_THREE]);
  tamper(directory, (database) => {
    assert.equal(schemaVersion(database), 3);
    const recorded = database.prepare("select body from events where type = 'store.migrated' order by pos").all();
    assert.deepEqual(
      recorded.map(({ body }) => body),
      ['{"from":1,"to":2}', '{"from":2,"to":3}'],
    );
  });
  for (const version of [1, 2]) {
    const copy = join(directory, `ledger.db.v${version}`);
    assert.equal((statSync(copy).mode & 0o777).toString(8), "600");
    const database = new DatabaseSync(copy);
    assert.equal(schemaVersion(database), version);
    assert.equal(database.prepare("select count(*) as n from events").get()?.["n"], Number(before) + version - 1);
    database.close();
  }
});

test("a step that fails leaves the old version whole, and can be taken again", async (t) => {
  const directory = await storeOfVersionOne(t);
  const failing: Migration = {
    from: 1,
    up: (database) => {
      TO_TWO.up(database);
      throw new Error("half-way");
    },
  };
  assert.throws(() => step(directory, [failing]), /half-way/);
  tamper(directory, (database) => {
    assert.equal(schemaVersion(database), 1);
    assert.equal(database.prepare("select 1 from sqlite_schema where name = 'extra'").get(), undefined);
  });
  await (await openLedger({ directory })).close();
  step(directory, [TO_TWO]);
  tamper(directory, (database) => assert.equal(schemaVersion(database), 2));
});

test("nothing is copied or written when there is no step to take", async (t) => {
  const directory = await storeOfVersionOne(t);
  const before = readFileSync(join(directory, "ledger.db"));
  step(directory, [TO_THREE]);
  assert.ok(!existsSync(join(directory, "ledger.db.v1")));
  assert.deepEqual(readFileSync(join(directory, "ledger.db")), before);
});

test("a database is empty, older, current or newer", async (t) => {
  const directory = await storeOfVersionOne(t);
  tamper(directory, (database) =>
    assert.deepEqual(
      [0, 1, 2].map((known) => schemaState(database, known)),
      ["newer", "current", "older"],
    ),
  );
  const empty = new DatabaseSync(":memory:");
  assert.equal(schemaState(empty), "empty");
  empty.close();
});
