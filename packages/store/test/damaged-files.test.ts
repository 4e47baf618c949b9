import assert from "node:assert/strict";
import { closeSync, copyFileSync, openSync, readFileSync, statSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { LedgerError } from "@assent/core";
import { proposedDraft } from "@assent/core/testing";
import { openLedger } from "../src/open/open-ledger.ts";
import { verifyStore } from "../src/verify/verify.ts";
import { A, B, begin, madeLedger, noise, readAll, scratch, tamper } from "./made-store.ts";

const FRAME = 4_096 + 24;

test("a log cut in the middle of its last frame opens with every transaction before that frame", async (t) => {
  const ledger = await madeLedger(t);
  const writer = await begin(ledger);
  await writer.full(proposedDraft("kept"));
  const before = statSync(join(ledger.directory, "ledger.db-wal")).size;
  await writer.full(proposedDraft("torn"));
  const after = statSync(join(ledger.directory, "ledger.db-wal")).size;
  assert.ok(after > before && (after - 32) % FRAME === 0);
  // What a power cut leaves: the files as they are on disk, without the writer's farewell.
  const directory = await scratch(t);
  for (const name of ["ledger.db", "ledger.db-wal"]) copyFileSync(join(ledger.directory, name), join(directory, name));
  truncateSync(join(directory, "ledger.db-wal"), after - FRAME / 2);
  const reopened = await madeLedger(t, { directory });
  const calls = (await readAll(reopened, { session: A, seq: 0 })).map(({ body }) => body["call"]);
  assert.deepEqual(calls, [undefined, undefined, "kept"]);
  const { findings } = await verifyStore({ directory });
  assert.deepEqual(findings, []);
});

/** A store with two sessions of 400 events and one page of NULs in the middle of session A's events. */
async function withNulls(t: Parameters<typeof scratch>[0]): Promise<string> {
  const directory = await scratch(t);
  const ledger = await openLedger({ directory });
  for (const session of [B, A]) {
    const writer = await begin(ledger, session);
    for (let at = 0; at < 4; at += 1) await writer.append(...Array.from({ length: 100 }, (_, index) => noise(at * 100 + index)));
    await writer.append({ type: "session.closed", v: 1, at: "2026-01-01T00:00:00.000Z", body: { reason: "done", exit: 0 } });
  }
  await ledger.close();
  const page = tamper(directory, (database) => {
    const pos = database.prepare("select pos from events where session = ? and seq = 200").get(A)?.["pos"] as number;
    const pages = database.prepare("select pageno from dbstat where name = 'events' and pagetype = 'leaf' order by path").all();
    const count = database.prepare("select count(*) as n from events").get()?.["n"] as number;
    return pages[Math.floor((pages.length * pos) / count)]?.["pageno"] as number;
  });
  overwrite(join(directory, "ledger.db"), Buffer.alloc(4_096), (page - 1) * 4_096);
  return directory;
}

test("with a page of NULs the store opens; a read and verify say store_corrupt and to restore a backup, other sessions work", async (t) => {
  const directory = await withNulls(t);
  const ledger = await openLedger({ directory });
  await assert.rejects(readAll(ledger, { session: A, seq: 0 }), (error) => {
    assert.ok(error instanceof LedgerError && error.type === "store_corrupt");
    assert.match(error.message, /Restore a backup/);
    return true;
  });
  assert.equal((await readAll(ledger, { session: B, seq: 0 })).length, 403);
  const other = await begin(ledger, B);
  assert.equal((await other.append(noise())).length, 1);
  await ledger.close();
  const report = await verifyStore({ directory });
  assert.equal(report.ok, false);
  const found = report.findings.find(({ session }) => session === A);
  assert.deepEqual([found?.type, found?.hint], ["store_corrupt", "Restore a backup."]);
  assert.ok(found?.seq && found.seq > 100 && found.seq < 300, `${found?.seq}`);
  assert.ok(!report.findings.some(({ session }) => session === B));
});

test("a damaged page cannot be repaired: the repair says so and changes nothing", async (t) => {
  const directory = await withNulls(t);
  const before = readFileSync(join(directory, "ledger.db"));
  await assert.rejects(verifyStore({ directory, repair: true }), /It cannot be repaired\. Restore a backup/);
  assert.deepEqual(readFileSync(join(directory, "ledger.db")), before);
});

/** A store with one session, and something wrong in its file. */
async function withDamage(t: Parameters<typeof scratch>[0], sql: string): Promise<string> {
  const directory = await scratch(t);
  const ledger = await openLedger({ directory });
  await (await begin(ledger, A)).append(proposedDraft("c1"));
  await ledger.close();
  tamper(directory, (database) => database.exec(sql));
  return directory;
}

const BEYOND_REPAIR: readonly (readonly [what: string, damage: (file: string) => void])[] = [
  ["64 changed bytes behind its header", (file) => overwrite(file, Buffer.alloc(64, 0xff), 100)],
  ["a file cut in the middle of its first page", (file) => truncateSync(file, 600)],
  ["a file that lost everything", (file) => truncateSync(file, 0)],
  ["a text in its place", (file) => writeFileSync(file, "this is no database, whatever its name says".repeat(200))],
  ["no id", (file) => tamper(dirname(file), (database) => database.exec("delete from meta where key = 'store'"))],
];
for (const [what, damage] of BEYOND_REPAIR)
  test(`a ledger that cannot be repaired says so, and what to do instead of the repair: ${what}`, async (t) => {
    const directory = await withDamage(t, "");
    damage(join(directory, "ledger.db"));
    const { ok, findings } = await verifyStore({ directory });
    assert.deepEqual([ok, findings.map(({ type }) => type)], [false, ["store_corrupt"]]);
    assert.match(findings[0]?.hint ?? "", /^Restore a backup/);
    await assert.rejects(verifyStore({ directory, repair: true }), (error) => {
      assert.ok(error instanceof LedgerError && error.type === "store_corrupt", String(error));
      assert.match(error.message, /It cannot be repaired\. Restore a backup, or move .+ away and begin a new store\.$/);
      assert.doesNotMatch(error.message, /--repair/);
      return true;
    });
  });

function overwrite(file: string, bytes: Buffer, at: number): void {
  const handle = openSync(file, "r+");
  writeSync(handle, bytes, 0, bytes.length, at);
  closeSync(handle);
}

for (const [what, sql] of [
  ["tables that are not those of its version", "pragma user_version=1"],
  ["a list that is no JSON", "update sessions set row = 'x'"],
] as const)
  test(`a store with ${what} says store_corrupt, and where to look`, async (t) => {
    const directory = await withDamage(t, sql);
    const opened = openLedger({ directory }).then(async (ledger) => {
      t.after(() => ledger.close());
      await ledger.pending("sessions", { all: true });
    });
    await assert.rejects(opened, (error) => {
      assert.ok(error instanceof LedgerError);
      assert.equal(error.type, "store_corrupt");
      assert.match(error.message, /assent verify/);
      return true;
    });
  });
