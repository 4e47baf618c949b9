import assert from "node:assert/strict";
import { test } from "node:test";
import { A, begin, madeLedger, noise, tamper } from "./made-store.ts";

const OUTDATED: readonly (readonly [string, string])[] = [
  ["whose event is another one", "update snapshots set hash = 'f'"],
  ["of a place that the chain has lost", "update snapshots set seq = 99"],
  ["of another version", "update snapshots set version = 99"],
];

for (const [title, sql] of OUTDATED) {
  test(`a snapshot ${title} is ignored`, async (t) => {
    const ledger = await madeLedger(t);
    await begin(ledger);
    await ledger.snapshot(A, 2, { calls: ["c1"] });
    assert.deepEqual(await ledger.latest(A), { seq: 2, state: { calls: ["c1"] } });
    tamper(ledger.directory, (database) => database.exec(sql));
    assert.equal(await ledger.latest(A), undefined);
  });
}

test("a snapshot of what is not stored is refused, one of the same tick's append is not", async (t) => {
  const ledger = await madeLedger(t);
  const writer = await begin(ledger);
  await assert.rejects(ledger.snapshot(A, 3, {}), { type: "cursor_ahead" });
  const appended = writer.append(noise());
  await Promise.all([appended, ledger.snapshot(A, 3, { at: 3 })]);
  assert.deepEqual(await ledger.latest(A), { seq: 3, state: { at: 3 } });
});
