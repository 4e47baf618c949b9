import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { LedgerError, type LedgerErrorType } from "@assent/core";
import { createdDraft } from "@assent/core/testing";
import { makeConnect } from "../src/connect/connection.ts";
import { openPostgresLedger, parseStoreUrl } from "../src/index.ts";
import { freshSchema, scratch, thisHolder } from "./made-ledger.ts";
import { startPostgres } from "./postgres-server.ts";

const server = await startPostgres(15);

function localDirectory(t: TestContext): string {
  const { directory, remove } = scratch();
  t.after(remove);
  return directory;
}

function failsWith(type: LedgerErrorType, text: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof LedgerError && error.type === type && text.test(error.message);
}

test("a role without rights of its own uses the schema that it owns, and is told if there is none", async (t) => {
  const directory = localDirectory(t);
  const schema = freshSchema();
  await server.sql(`create role agent login; create schema ${schema} authorization agent`);
  const url = server.url(schema).replace("postgres@", "agent@");
  const ledger = await openPostgresLedger({ url, directory });
  await ledger.acquire("s_aaaaaaaaaaaaaaaaaaaa", thisHolder());
  assert.deepEqual(ledger.warnings, []);
  await ledger.close();
  const other = openPostgresLedger({ url: url.replace(`schema=${schema}`, "schema=nowhere"), directory });
  await assert.rejects(
    other,
    failsWith("store_role_refused", /may not create the schema nowhere\. As its owner, run: assent store migrate/),
  );
});

test("a server without a free connection says how to get one", async (t) => {
  await server.sql("create role crowd login connection limit 0");
  const opening = openPostgresLedger({ url: server.url("any").replace("postgres@", "crowd@"), directory: localDirectory(t) });
  await assert.rejects(opening, failsWith("store_unreachable", /\(53300\)\. .*End processes that use it, or raise max_connections/));
});

test("the tables of another program, a missing ledger and a newer one are refused", async (t) => {
  const directory = localDirectory(t);
  const [foreign, newer] = [freshSchema(), freshSchema()];
  await server.sql(`create schema ${foreign}; create table ${foreign}.things (id int)`);
  await assert.rejects(
    openPostgresLedger({ url: server.url(foreign), directory }),
    failsWith("store_unsafe_location", /belongs to another program/),
  );
  const missing = openPostgresLedger({ url: server.url("missing"), directory, createIfMissing: false });
  await assert.rejects(missing, failsWith("store_lost", /There is no ledger/));
  await (await openPostgresLedger({ url: server.url(newer), directory })).close();
  await server.sql(`update ${newer}.meta set value = '99' where key = 'version'`);
  const ledger = await openPostgresLedger({ url: server.url(newer), directory });
  t.after(ledger.close);
  assert.equal(ledger.refusal?.type, "store_newer");
  assert.equal(await ledger.head(), 1);
  await assert.rejects(ledger.acquire("s_aaaaaaaaaaaaaaaaaaaa", thisHolder()), failsWith("store_newer", /./));
});

test("a process that stopped in the middle of a transaction does not block the others for long", { timeout: 60_000 }, async (t) => {
  const directory = localDirectory(t);
  const url = server.url(freshSchema());
  const ledger = await openPostgresLedger({ url, directory });
  t.after(ledger.close);
  const lease = await ledger.acquire("s_aaaaaaaaaaaaaaaaaaaa", thisHolder());
  const stopped = await makeConnect(parseStoreUrl(url))();
  await stopped.query("begin");
  await stopped.query("select pos from counter for update");
  await ledger.append(lease, 0, { events: [createdDraft()], durability: "full" });
  await assert.rejects(stopped.query("commit"));
  await stopped.close();
});

const SHOWN: readonly (readonly [given: string, shown: string])[] = [
  ["postgres://u:secret@h:5433/db", "postgres://u@h:5433/db"],
  ["postgresql://u:secret@h/db?password=secret&sslmode=verify-full", "postgresql://u@h/db?sslmode=verify-full"],
  ["postgres://u:secret@/db?host=%2Ftmp", "postgres://u@/db?host=%2Ftmp"],
  ["postgres:///db", "postgres:///db"],
  ["postgres://h/db?schema=team", "postgres://h/db?schema=team"],
  ["postgres://u:secret@", "postgres://u@/"],
];
for (const [given, shown] of SHOWN) test(`${shown} is how people see a URL`, () => assert.equal(parseStoreUrl(given).shown, shown));

test("processes that open a new ledger at the same time create it once", { timeout: 60_000 }, async () => {
  const { directory, remove } = scratch();
  const url = server.url(freshSchema());
  const opened = await Promise.all(Array.from({ length: 8 }, () => openPostgresLedger({ url, directory })));
  assert.equal(new Set(opened.map(({ storeId }) => storeId)).size, 1);
  await Promise.all(opened.map((ledger) => ledger.close()));
  remove();
});
