import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { LedgerError } from "@assent/core";
import { claimedDraft, judgedDraft, proposedDraft } from "@assent/core/testing";
import { A, begin, madeLedger, noise, opening, readAll } from "./made-store.ts";

/** What may happen to the files of a store while a process has it open. */
const LOSSES: readonly (readonly [string, (directory: string) => void])[] = [
  ["the database is deleted", (directory) => rmSync(join(directory, "ledger.db"))],
  ["the database is moved", (directory) => renameSync(join(directory, "ledger.db"), join(directory, "elsewhere.db"))],
  [
    "the database is replaced by a copy of itself",
    (directory) => {
      copyFileSync(join(directory, "ledger.db"), join(directory, "copy.db"));
      renameSync(join(directory, "copy.db"), join(directory, "ledger.db"));
    },
  ],
  ["the write-ahead log is deleted", (directory) => rmSync(join(directory, "ledger.db-wal"))],
  [
    "the write-ahead log is replaced",
    (directory) => {
      writeFileSync(join(directory, "other"), "");
      renameSync(join(directory, "other"), join(directory, "ledger.db-wal"));
    },
  ],
  ["the database is emptied", (directory) => truncateSync(join(directory, "ledger.db"))],
  ["the write-ahead log is emptied", (directory) => truncateSync(join(directory, "ledger.db-wal"))],
  ["the write-ahead log is cut short", (directory) => truncateSync(join(directory, "ledger.db-wal"), 4_096)],
  ["the index of the log is deleted", (directory) => rmSync(join(directory, "ledger.db-shm"))],
  ["the directory is deleted", (directory) => rmSync(directory, { recursive: true })],
  ["the directory is renamed", (directory) => renameSync(directory, `${directory}-renamed`)],
  [
    "the directory is replaced by an empty one",
    (directory) => {
      renameSync(directory, `${directory}-renamed`);
      mkdirSync(directory, { mode: 0o700 });
    },
  ],
  [
    "a file takes the place of the directory",
    (directory) => {
      rmSync(directory, { recursive: true });
      writeFileSync(directory, "");
    },
  ],
];

for (const [title, lose] of LOSSES) {
  test(`while a store is open, ${title}: nothing is acknowledged any more`, async (t) => {
    const ledger = await madeLedger(t);
    const writer = await begin(ledger);
    await writer.append(proposedDraft("c1"), judgedDraft("c1"));
    lose(ledger.directory);
    await assert.rejects(writer.claim(claimedDraft("c1")), { type: "store_lost", message: /ledger\.db.* Nothing more will run\. / });
    await assert.rejects(writer.append(noise()), { type: "store_lost" });
    await assert.rejects(begin(ledger, "s_cccccccccccccccccccc"), { type: "store_lost" });
  });
}

test("files that go between a commit's start and its end leave it unacknowledged", async (t) => {
  let armed = false;
  const exec = (sql: string): void => {
    if (armed && sql === "commit") rmSync(join(ledger.directory, "ledger.db"));
    armed &&= sql !== "commit";
  };
  const ledger = await madeLedger(t, { openDatabase: opening({ exec }) });
  const writer = await begin(ledger);
  armed = true;
  await assert.rejects(writer.full(noise()), { type: "store_lost" });
  await assert.rejects(writer.append(noise()), { type: "store_lost" });
});

test("a store whose files come back stays refused in the process that lost them", async (t) => {
  const ledger = await madeLedger(t);
  const writer = await begin(ledger);
  const [file, aside] = [join(ledger.directory, "ledger.db"), join(ledger.directory, "aside.db")];
  renameSync(file, aside);
  await assert.rejects(writer.append(noise()), { type: "store_lost" });
  renameSync(aside, file);
  await assert.rejects(writer.append(noise()), { type: "store_lost" });
  assert.equal((await readAll(ledger, { session: A, seq: 0 })).length, 2);
});

for (const [title, lose] of LOSSES) {
  test(`a subscriber is told when, while it waits, ${title}`, async (t) => {
    const ledger = await madeLedger(t);
    await begin(ledger);
    const { promise, resolve } = Promise.withResolvers<unknown>();
    ledger.subscribe({ pos: await ledger.head() }, {}, () => undefined, resolve);
    lose(ledger.directory);
    const error = await promise;
    assert.ok(error instanceof LedgerError && error.type === "store_lost", String(error));
    await assert.rejects(ledger.close(), { type: "store_lost" }); // its last checkpoint cannot be stored
  });
}
