import assert from "node:assert/strict";
import { chmodSync, cpSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { answeredDraft, claimedDraft, judgedDraft, openedDraft, proposedDraft } from "@assent/core/testing";
import { openLedger } from "../src/open-ledger.ts";
import { verifyStore } from "../src/verify.ts";
import { A, begin, madeLedger, readAll, scratch } from "./made-store.ts";

const asks = (call: string) => [proposedDraft(call), judgedDraft(call, { verdict: "ask" }), openedDraft(call)];

/** A store with one approval open, one answered, one used and one refused, and its copy. */
async function copied(t: Parameters<typeof scratch>[0]): Promise<{ original: string; copy: string; yes: number }> {
  const root = await scratch(t);
  const original = join(root, "original");
  const ledger = await openLedger({ directory: original });
  const writer = await begin(ledger);
  await writer.append(...["open", "yes", "used", "no"].flatMap(asks));
  const said = await ledger.answer([answeredDraft(A, "yes")]);
  const used = await ledger.answer([answeredDraft(A, "used")]);
  await ledger.answer([answeredDraft(A, "no", { outcome: "rejected" })]);
  assert.ok("won" in said && "won" in used);
  await writer.claim(claimedDraft("used", { answer: { pos: used.won[0]?.pos ?? 0 } }));
  await ledger.close();
  const copy = join(root, "copy");
  cpSync(original, copy, { recursive: true });
  chmodSync(copy, 0o700);
  return { original, copy, yes: said.won[0]?.pos ?? 0 };
}

test("a copy closes open approvals, voids unused answers and says so, once", async (t) => {
  const { copy, yes } = await copied(t);
  const ledger = await openLedger({ directory: copy });
  assert.deepEqual(
    ledger.warnings.map(({ type }) => type),
    ["store_restored"],
  );
  const rows = await ledger.pending("approvals", { all: true });
  assert.deepEqual(
    rows.map(({ id, state }) => [id, state]),
    [
      ["a_open", "cancelled"],
      ["a_yes", "cancelled"],
      ["a_used", "approved"],
      ["a_no", "rejected"],
    ],
  );
  const [restored] = await readAll(ledger, { pos: 0 }, { types: ["store.restored"] });
  assert.deepEqual(restored?.body, { approvals: 2 });
  const closed = await readAll(ledger, { pos: 0 }, { types: ["approval.closed"] });
  assert.deepEqual(
    closed.map(({ body }) => [body["approval"], body["by"]]),
    [
      ["a_open", "store_restored"],
      ["a_yes", "store_restored"],
    ],
  );
  const writer = await begin(ledger, A, true);
  assert.deepEqual(await writer.claim(claimedDraft("yes", { answer: { pos: yes } })), { lost: "answer_void" });
  await ledger.close();
  const again = await madeLedger(t, { directory: copy });
  assert.deepEqual(again.warnings, []);
  assert.equal((await readAll(again, { pos: 0 }, { types: ["store.restored"] })).length, 1);
  assert.deepEqual((await verifyStore({ directory: copy })).findings, []);
});

test("the original stays as it was, and its answer is used once", async (t) => {
  const { original, yes } = await copied(t);
  const ledger = await madeLedger(t, { directory: original });
  assert.deepEqual(ledger.warnings, []);
  const writer = await begin(ledger, A, true);
  assert.ok("won" in (await writer.claim(claimedDraft("yes", { answer: { pos: yes } }))));
});
