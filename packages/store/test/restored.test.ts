import assert from "node:assert/strict";
import { chmodSync, copyFileSync, cpSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { answeredDraft, claimedDraft, closedSessionDraft, endedDraft, judgedDraft, openedDraft, proposedDraft } from "@assent/core/testing";
import { openMarks } from "../src/files/marks.ts";
import { openLedger } from "../src/open/open-ledger.ts";
import { pruneStore } from "../src/prune/prune.ts";
import { verifyStore } from "../src/verify/verify.ts";
import { A, begin, madeLedger, readAll, scratch, tamper } from "./made-store.ts";

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
  for (const directory of [copy, join(copy, "marks")]) chmodSync(directory, 0o700);
  return { original, copy, yes: said.won[0]?.pos ?? 0 };
}

test("a copy closes open approvals, voids unused answers and says so, once", async (t) => {
  const { copy, yes } = await copied(t);
  const ledger = await openLedger({ directory: copy });
  assert.deepEqual(
    ledger.warnings.map(({ type, message }) => [type, message]),
    [["store_restored", "This ledger is a copy or a restored backup. 2 open approvals and unused answers were cancelled."]],
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

/** A session in which two calls were approved, and the claim of one of them. */
async function approvedTwice(ledger: Awaited<ReturnType<typeof madeLedger>>) {
  const writer = await begin(ledger);
  await writer.append(...["one", "two"].flatMap(asks));
  const said = [await ledger.answer([answeredDraft(A, "one")]), await ledger.answer([answeredDraft(A, "two")])];
  const claim = (call: "one" | "two") => {
    const answered = said[call === "one" ? 0 : 1];
    assert.ok(answered && "won" in answered);
    return writer.claim(claimedDraft(call, { answer: { pos: answered.won[0]?.pos ?? 0 } }));
  };
  return { writer, claim };
}

const newest = (directory: string): string =>
  tamper(directory, (database) => {
    const { pos, hash } = database.prepare("select pos, hash from events where type = 'call.claimed' order by pos desc").get() ?? {};
    return `${pos}-${hash}`;
  });

test("a used answer leaves one mark, that of the newest claim, and a claim without an answer leaves none", async (t) => {
  const ledger = await madeLedger(t);
  const { writer, claim } = await approvedTwice(ledger);
  await writer.append(proposedDraft("free"), judgedDraft("free"));
  await writer.claim(claimedDraft("free"));
  assert.deepEqual(openMarks(join(ledger.directory, "marks")).list(), []);
  for (const call of ["one", "two"] as const) {
    assert.ok("won" in (await claim(call)));
    assert.deepEqual(readdirSync(join(ledger.directory, "marks")), [newest(ledger.directory)]);
  }
});

test("a mark that is written late does not replace a newer one", async (t) => {
  const marks = openMarks(join(await scratch(t), "marks"));
  const [older, newer] = [9, 10].map((pos) => ({ pos, hash: String(pos).padStart(64, "0") })) as [never, never];
  marks.put(newer);
  marks.put(older);
  assert.deepEqual(marks.list(), [newer]);
});

test("where the mark cannot be written, the claim fails and nothing more is stored", async (t) => {
  const ledger = await madeLedger(t);
  const { claim } = await approvedTwice(ledger);
  writeFileSync(join(ledger.directory, "marks"), "");
  await assert.rejects(claim("one"), { type: "store_io" });
  await assert.rejects(claim("two"), { type: "store_io" });
  rmSync(join(ledger.directory, "marks"));
});

test("a ledger that is replaced by an older copy while it is open uses no answer", async (t) => {
  const ledger = await madeLedger(t);
  const { claim } = await approvedTwice(ledger);
  const saved = join(await scratch(t), "saved.db");
  tamper(ledger.directory, (database) => database.prepare("vacuum into ?").run(saved));
  assert.ok("won" in (await claim("one")));
  rmSync(join(ledger.directory, "marks", newest(ledger.directory)));
  openMarks(join(ledger.directory, "marks")).put({ pos: 1_000, hash: "f".repeat(64) }); // as a later claim of the copy's original
  await assert.rejects(claim("two"), { type: "store_corrupt", message: /older copy/ });
  assert.deepEqual(
    (await verifyStore({ directory: ledger.directory })).findings.map(({ type }) => type),
    ["store_restored"],
  );
});

test("pruning the session of the newest mark makes no restored backup of the store", async (t) => {
  const ledger = await madeLedger(t);
  const { writer, claim } = await approvedTwice(ledger);
  await claim("one");
  await writer.append(endedDraft("one"), endedDraft("two", { outcome: "cancelled" }), closedSessionDraft());
  const { sessions } = await pruneStore({ directory: ledger.directory, olderThan: -1_000_000_000_000 });
  assert.equal(sessions, 1);
  assert.deepEqual((await verifyStore({ directory: ledger.directory })).findings, []);
  assert.deepEqual((await madeLedger(t, { directory: ledger.directory })).warnings, []);
});

test("a store whose place was recorded before its birth time was is no copy", async (t) => {
  const { original } = await copied(t);
  tamper(original, (database) => database.exec("update meta set value = json_remove(value, '$.born') where key = 'place'"));
  assert.deepEqual((await madeLedger(t, { directory: original })).warnings, []);
});

test("a copy over the file in place, under the same inode, voids what the original may have used", async (t) => {
  const { original, copy, yes } = await copied(t);
  const ledger = await openLedger({ directory: original });
  const writer = await begin(ledger, A, true);
  assert.ok("won" in (await writer.claim(claimedDraft("yes", { answer: { pos: yes } }))));
  await ledger.close();
  copyFileSync(join(copy, "ledger.db"), join(original, "ledger.db"));
  const restored = await madeLedger(t, { directory: original });
  assert.deepEqual(
    restored.warnings.map(({ type }) => type),
    ["store_restored"],
  );
  const again = await begin(restored, A, true);
  assert.deepEqual(await again.claim(claimedDraft("yes", { answer: { pos: yes } })), { lost: "answer_void" });
  assert.equal(readdirSync(join(original, "marks")).length, 1);
});
