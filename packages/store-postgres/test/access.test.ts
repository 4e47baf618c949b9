import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type Draft, LedgerError, type LedgerErrorType } from "@assent/core";
import { createdDraft, draftOf } from "@assent/core/testing";
import { type Connection, makeConnect } from "../src/connect/connection.ts";
import { openPostgresLedger, parseStoreUrl } from "../src/index.ts";
import { openWith } from "../src/open/open-ledger.ts";
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

function hookDraft(): Draft<"hook.ran"> {
  return draftOf("hook.ran", { event: "post_tool_use", hook: "h", outcome: "allow", durationMs: 0 });
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

test("a ledger that gets only one of its two connections is not opened, and leaves none behind", async (t) => {
  const schema = freshSchema();
  await server.sql(`create role ${schema} login connection limit 1; create schema ${schema} authorization ${schema}`);
  const url = server.url(schema).replace("postgres@", `${schema}@`);
  const opening = openPostgresLedger({ url, directory: localDirectory(t), waitMs: 0 });
  await assert.rejects(opening, failsWith("store_unreachable", /too many connections for role/));
  const left = `select pid from pg_stat_activity where usename = '${schema}'`;
  let pids = await server.sql(left);
  for (let tries = 100; pids.length > 0 && tries > 0; tries -= 1) pids = await server.sql(left);
  assert.deepEqual(pids, []);
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

for (const isolation of ["read committed", "serializable"]) {
  test(`processes that open a new ledger at the same time create it once and write to it, with ${isolation} as the default of their role`, {
    timeout: 60_000,
  }, async () => {
    const { directory, remove } = scratch();
    const schema = freshSchema();
    await server.sql(`create role ${schema} superuser login; alter role ${schema} set default_transaction_isolation = '${isolation}'`);
    const url = server.url(schema).replace("postgres@", `${schema}@`);
    const opened = await Promise.all(Array.from({ length: 8 }, () => openPostgresLedger({ url, directory })));
    assert.equal(new Set(opened.map(({ storeId }) => storeId)).size, 1);
    await Promise.all(
      opened.map(async (ledger, at) => {
        const lease = await ledger.acquire(`s_aaaaaaaaaaaaaaaaaaa${at}`, thisHolder());
        await ledger.append(lease, 0, { events: [createdDraft()], durability: "full" });
        for (let seq = 1; seq <= 10; seq += 1) await ledger.append(lease, seq, { events: [hookDraft()], durability: "full" });
      }),
    );
    await Promise.all(opened.map((ledger) => ledger.close()));
    remove();
  });
}

test("a statement timeout of the role does not end a commit that waits for another one", { timeout: 60_000 }, async (t) => {
  const schema = freshSchema();
  await server.sql(`create role ${schema} superuser login; alter role ${schema} set statement_timeout = '100ms'`);
  const url = server.url(schema).replace("postgres@", `${schema}@`);
  const ledger = await openPostgresLedger({ url, directory: localDirectory(t) });
  t.after(ledger.close);
  const lease = await ledger.acquire("s_aaaaaaaaaaaaaaaaaaaa", thisHolder());
  const other = await makeConnect(parseStoreUrl(url))();
  t.after(other.close);
  await other.query("begin");
  await other.query("select pos from counter for update");
  const stored = ledger.append(lease, 0, { events: [createdDraft()], durability: "full" });
  const waitsLong = `select 1 from pg_stat_activity where usename = '${schema}' and wait_event_type = 'Lock' and clock_timestamp() - query_start > '200ms'`;
  while ((await Promise.race([server.sql(waitsLong), stored])).length === 0);
  await other.query("commit");
  assert.equal((await stored).length, 1);
});

test("a pooler that changes the server's process between transactions is refused before anything is stored", async (t) => {
  const directory = localDirectory(t);
  const place = parseStoreUrl(server.url("public"));
  const connect = async (): Promise<Connection> => {
    const [one, other] = [await makeConnect(place)(), await makeConnect(place)()];
    t.after(() => Promise.all([one.close(), other.close()]));
    return { ...one, query: (...statement) => (isChanged ? other : one).query(...statement) };
  };
  let isChanged = false;
  const { ledger } = await openWith({ connect, place, directory });
  t.after(ledger.close);
  const lease = await ledger.acquire("s_aaaaaaaaaaaaaaaaaaaa", thisHolder());
  const head = await ledger.head();
  isChanged = true;
  const append = ledger.append(lease, 0, { events: [createdDraft()], durability: "full" });
  await assert.rejects(append, failsWith("store_unsafe_location", /a pooler in transaction mode\. Nothing ran\. Connect directly/));
  assert.equal(await ledger.head(), head);
});

test("a full disk refuses every write of a group, and the next one is stored once there is space", async (t) => {
  const schema = freshSchema();
  const ledger = await openPostgresLedger({ url: server.url(schema), directory: localDirectory(t) });
  t.after(ledger.close);
  const lease = await ledger.acquire("s_aaaaaaaaaaaaaaaaaaaa", thisHolder());
  await server.sql(`create function ${schema}.fill() returns trigger language plpgsql as $$
    begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$;
    create trigger fill before insert on ${schema}.events for each row execute function ${schema}.fill()`);
  const group = [
    ledger.append(lease, 0, { events: [createdDraft()], durability: "full" }),
    ledger.append(lease, 1, { events: [hookDraft()], durability: "full" }),
  ];
  for (const write of group) await assert.rejects(write, failsWith("store_full", /The disk of the ledger .* is full/));
  await server.sql(`drop trigger fill on ${schema}.events`);
  const [stored] = await ledger.append(lease, 0, { events: [createdDraft()], durability: "full" });
  assert.equal(stored?.seq, 1);
});
