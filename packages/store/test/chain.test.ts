import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { canonicalJson, LedgerError } from "@assent/core";
import { proposedDraft } from "@assent/core/testing";
import { chainHash, NO_HASH } from "../src/write/chain.ts";
import { A, B, begin, madeLedger, readAll, tamper } from "./made-store.ts";

test("an event's hash is that of canonical JSON of its fields and the store's id", async (t) => {
  const ledger = await madeLedger(t);
  const writer = await begin(ledger);
  await writer.append(proposedDraft('c\u0001"ü', { raw: { z: 1, a: "\u2028é𝄞", n: -0 } }));
  const events = await readAll(ledger);
  assert.ok(events.length > 4);
  for (const { at, body, epoch, prev, seq, session, type, v, hash } of events) {
    const text = canonicalJson({ at, body, epoch, prev, seq, session, store: ledger.storeId, type, v });
    assert.equal(hash, createHash("sha256").update(text).digest("hex"));
  }
});

test("each chain starts with zeros and links every event to the one before", async (t) => {
  const ledger = await madeLedger(t);
  await begin(ledger, A);
  await begin(ledger, B);
  for (const session of [A, B, "_store"]) {
    const chain = await readAll(ledger, { session, seq: 0 });
    assert.deepEqual(
      chain.map(({ prev }) => prev),
      [NO_HASH, ...chain.slice(0, -1).map(({ hash }) => hash)],
    );
    assert.equal(NO_HASH, "0".repeat(64));
  }
});

test("two stores give the same event different hashes", () => {
  const link = { session: A, seq: 1, epoch: 1, at: "2026-01-01T00:00:00.000Z", type: "x", v: 1, body: "{}", prev: NO_HASH };
  assert.notEqual(chainHash({ ...link, store: "one" }), chainHash({ ...link, store: "two" }));
});

const DAMAGE: readonly (readonly [string, string, number])[] = [
  ["a changed body", "update events set body = replace(body, 'c2', 'c9') where session = 's_aaaaaaaaaaaaaaaaaaaa' and seq = 4", 4],
  ["a changed time", "update events set at = '2020-01-01T00:00:00.000Z' where session = 's_aaaaaaaaaaaaaaaaaaaa' and seq = 4", 4],
  ["a missing event", "delete from events where session = 's_aaaaaaaaaaaaaaaaaaaa' and seq = 4", 4],
  ["an event of another chain", "update events set prev = hash where session = 's_aaaaaaaaaaaaaaaaaaaa' and seq = 4", 4],
];

for (const [title, sql, seq] of DAMAGE) {
  test(`${title} ends the reading of its session, which is read-only from then on; other sessions work`, async (t) => {
    const ledger = await madeLedger(t);
    const writer = await begin(ledger, A);
    const other = await begin(ledger, B);
    await writer.append(proposedDraft("c1"), proposedDraft("c2"), proposedDraft("c3"));
    tamper(ledger.directory, (database) => database.exec(sql));
    const read: number[] = [];
    const reading = async (): Promise<void> => {
      for await (const event of ledger.read({ session: A, seq: 0 })) read.push(event.seq);
    };
    await assert.rejects(
      reading(),
      (error) => error instanceof LedgerError && error.type === "store_corrupt" && error.detail["seq"] === seq,
    );
    assert.deepEqual(read, [1, 2, 3]);
    await assert.rejects(writer.append(proposedDraft("c4")), { type: "store_corrupt" });
    await assert.rejects(ledger.acquire(A, { pid: 1, host: "", processStart: "", door: "" }, true), { type: "store_corrupt" });
    assert.equal((await other.append(proposedDraft("c1"))).length, 1);
  });
}

test("a damaged shared chain makes every session read-only", async (t) => {
  const ledger = await madeLedger(t);
  const writer = await begin(ledger);
  tamper(ledger.directory, (database) =>
    database.exec("update events set body = replace(body, 'test', 'best') where session = '_store' and type = 'store.epoch'"),
  );
  await assert.rejects(readAll(ledger, { session: "_store", seq: 0 }), { type: "store_corrupt" });
  await assert.rejects(writer.append(proposedDraft("c1")), { type: "store_corrupt" });
});
