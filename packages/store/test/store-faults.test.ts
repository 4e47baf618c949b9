import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { LedgerError } from "@assent/core";
import { claimedDraft, judgedDraft, openedDraft, proposedDraft } from "@assent/core/testing";
import type { OpenDatabase } from "../src/database/database.ts";
import { openLedger } from "../src/open/open-ledger.ts";
import { verifyStore } from "../src/verify/verify.ts";
import { A, begin, madeLedger, noise, opening, readAll, scratch, sqliteError, tamper } from "./made-store.ts";

const FULL = sqliteError(13, "database or disk is full");
const FSYNC = sqliteError(1034, "disk I/O error");

test("a full disk at each write of an append stores nothing, and the store goes on when there is space", async (t) => {
  let left = Number.POSITIVE_INFINITY;
  const strike = (): void => {
    left -= 1;
    if (left === 0) throw FULL;
  };
  const ledger = await madeLedger(t, { openDatabase: opening({ exec: strike, run: strike }) });
  const writer = await begin(ledger);
  let failures = 0;
  for (let at = 1; ; at += 1) {
    const head = await ledger.head();
    left = at;
    const call = `c${at}`;
    const asks = [proposedDraft(call, { raw: "x".repeat(70_000) }), judgedDraft(call, { verdict: "ask" }), openedDraft(call)];
    const error: unknown = await writer.full(...asks).then(
      () => undefined,
      (cause: unknown) => cause,
    );
    left = Number.POSITIVE_INFINITY;
    if (error === undefined) break;
    failures += 1;
    assert.ok(error instanceof LedgerError && error.type === "store_full", String(error));
    assert.match(error.message, /^Disk full: no further action runs until there is space\. Free space in \//);
    assert.equal(await ledger.head(), head);
    assert.deepEqual(await ledger.pending("approvals"), []);
  }
  assert.ok(failures >= 8, `${failures} writes`);
  assert.equal((await writer.append(noise())).length, 1);
  const report = await verifyStore({ directory: ledger.directory });
  assert.deepEqual(report.findings, []);
});

test("one failed fsync makes the store read-only for good in this process, and reading goes on", async (t) => {
  let failing = false;
  const exec = (sql: string): void => {
    if (failing && sql === "commit") throw FSYNC;
  };
  const ledger = await madeLedger(t, { openDatabase: opening({ exec }) });
  const writer = await begin(ledger);
  await writer.append(proposedDraft("c1"), judgedDraft("c1"));
  failing = true;
  const message = "Could not write the ledger (EIO). Nothing more will run. Check the disk, then: assent verify";
  await assert.rejects(writer.claim(claimedDraft("c1")), { type: "store_io", message });
  failing = false;
  await assert.rejects(writer.claim(claimedDraft("c1")), { type: "store_io" });
  await assert.rejects(ledger.answer([{ type: "grant.revoked", v: 1, at: "2026-01-01T00:00:00.000Z", body: { grant: "g", by: "me" } }]), {
    type: "store_io",
  });
  assert.equal((await readAll(ledger, { session: A, seq: 0 })).length, 4);
  assert.equal((await ledger.pending("sessions")).length, 1);
});

test("a failed move of the log into the database counts as a failed write", async (t) => {
  const exec = (sql: string): void => {
    if (sql.startsWith("pragma wal_checkpoint")) throw FSYNC;
  };
  const ledger = await madeLedger(t, { openDatabase: opening({ exec }) });
  const writer = await begin(ledger);
  const large = Array.from({ length: 20 }, (_, at) => proposedDraft(`c${at}`, { raw: `${at}`.repeat(1_000_000) }));
  await writer.append(...large);
  await new Promise((resolve) => setImmediate(resolve));
  await assert.rejects(writer.append(noise()), { type: "store_io" });
});

const REFUSALS: readonly (readonly [string, string, number, RegExp])[] = [
  ["the mode of its file", "ledger.db", 0o400, /ledger\.db cannot be written: its mode is 0400\. /],
  ["the mode of its directory", ".", 0o500, /ledger\.db cannot be written: its directory has mode 0500\. /],
  ["neither of them", ".", 0o700, /ledger\.db cannot be written: its file system refuses it\. /],
];

for (const [title, path, mode, message] of REFUSALS) {
  test(`a ledger that can be read and not written says why: ${title}`, async (t) => {
    const directory = await scratch(t);
    await (await openLedger({ directory })).close();
    const openDatabase: OpenDatabase = (file, options) => {
      if (options.readOnly) return new DatabaseSync(file, options);
      throw sqliteError(8, "attempt to write a readonly database");
    };
    chmodSync(join(directory, path), mode);
    try {
      const { refusal } = await madeLedger(t, { directory, openDatabase });
      assert.equal(refusal?.type, "store_readonly");
      assert.match(refusal.message, message);
    } finally {
      chmodSync(directory, 0o700);
    }
  });
}

const FAULTS: readonly (readonly [string, Error, string])[] = [
  ["a file that may not be written", sqliteError(8, "attempt to write a readonly database"), "store_readonly"],
  ["a malformed page", sqliteError(11, "database disk image is malformed"), "store_corrupt"],
  ["a disk that is full by the system's word", Object.assign(new Error("no space"), { code: "ENOSPC" }), "store_full"],
];

for (const [title, fault, type] of FAULTS) {
  test(`${title} is ${type}`, async (t) => {
    let failing = false;
    const run = (sql: string): void => {
      if (failing && sql.startsWith("insert into events")) throw fault;
    };
    const ledger = await madeLedger(t, { openDatabase: opening({ run }) });
    const writer = await begin(ledger);
    failing = true;
    await assert.rejects(writer.append(noise()), { type, cause: fault });
    failing = false;
    if (type === "store_readonly") await assert.rejects(writer.append(noise()), { type });
    else assert.equal((await writer.append(noise())).length, 1);
  });
}

test("a fault that is none of the store's is not given another name", async (t) => {
  let failing = false;
  const run = (): void => {
    if (failing) throw new TypeError("a mistake");
  };
  const ledger = await madeLedger(t, { openDatabase: opening({ run }) });
  const writer = await begin(ledger);
  failing = true;
  await assert.rejects(writer.append(noise()), TypeError);
  failing = false;
  assert.equal((await writer.append(noise())).length, 1);
});

const HOLD = `
  const { DatabaseSync } = require("node:sqlite");
  const database = new DatabaseSync(process.argv[1]);
  database.exec("begin immediate");
  process.stdout.write("held");
  process.stdin.resume();
`;

test("a lock that another process keeps is store_locked with its pid, and passes", async (t) => {
  const ledger = await madeLedger(t, { openDatabase: opening({ timeout: 50 }) });
  const writer = await begin(ledger);
  const holder = spawn(process.execPath, ["-e", HOLD, join(ledger.directory, "ledger.db")], { stdio: ["pipe", "pipe", "inherit"] });
  try {
    await once(holder.stdout, "data");
    const isTold = (error: unknown): boolean =>
      error instanceof LedgerError && error.type === "store_locked" && error.detail["pid"] === holder.pid;
    await assert.rejects(writer.append(noise()), isTold);
  } finally {
    holder.kill("SIGKILL");
    await once(holder, "exit");
  }
  assert.equal((await writer.append(noise())).length, 1);
});

test("a file that another process is just making is waited for", async (t) => {
  let busy = 2;
  const exec = (sql: string): void => {
    if (sql !== "pragma journal_mode=wal" || busy === 0) return;
    busy -= 1;
    throw sqliteError(5, "database is locked");
  };
  const ledger = await madeLedger(t, { openDatabase: opening({ exec }) });
  assert.deepEqual([busy, await ledger.head()], [0, 1]);
});

test("a store of a newer program is read and not written", async (t) => {
  const directory = await scratch(t);
  const before = await openLedger({ directory });
  await begin(before);
  await before.close();
  tamper(directory, (database) => database.exec("pragma user_version=99"));
  const ledger = await madeLedger(t, { directory });
  assert.equal((await readAll(ledger, { session: A, seq: 0 })).length, 2);
  await assert.rejects(begin(ledger, A, true), { type: "store_newer" });
  await assert.rejects(verifyStore({ directory }), { type: "store_newer" });
});
