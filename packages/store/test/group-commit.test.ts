import assert from "node:assert/strict";
import { test } from "node:test";
import { answeredDraft, claimedDraft, judgedDraft, openedDraft, proposedDraft } from "@assent/core/testing";
import { A, B, begin, madeLedger, noise, opening, readAll, tamper } from "./made-store.ts";

/** A ledger whose transactions are counted: each BEGIN, COMMIT and change of durability. */
async function counted(t: Parameters<typeof madeLedger>[0]): Promise<{ ledger: Awaited<ReturnType<typeof madeLedger>>; said: string[] }> {
  const said: string[] = [];
  const ledger = await madeLedger(t, {
    openDatabase: opening({ exec: (sql) => void (/^(begin|commit|rollback|pragma synchronous)/.test(sql) && said.push(sql)) }),
  });
  return { ledger, said };
}

test("100 appends of one tick over 10 sessions are one commit, and one that conflicts fails alone", async (t) => {
  const { ledger, said } = await counted(t);
  const writers = await Promise.all([..."abcdefghij"].map((letter) => begin(ledger, `s_${letter.repeat(20)}`)));
  said.length = 0;
  const outcomes = await Promise.allSettled(
    writers.flatMap(({ lease }, which) =>
      Array.from({ length: 10 }, (_, turn) =>
        ledger.append(lease, which === 4 && turn === 9 ? 99 : 2 + turn, { events: [noise(turn)], durability: "normal" }),
      ),
    ),
  );
  assert.deepEqual(said, ["begin immediate", "commit"]);
  assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 99);
  assert.equal((await readAll(ledger, { session: "s_eeeeeeeeeeeeeeeeeeee", seq: 0 })).length, 11);
});

test("one operation that needs FULL makes the whole transaction FULL, and the pragma comes before it", async (t) => {
  const { ledger, said } = await counted(t);
  const one = await begin(ledger, A);
  const two = await begin(ledger, B);
  said.length = 0;
  await Promise.all([one.append(noise()), two.full(noise())]);
  await one.append(noise());
  await one.append(noise());
  await two.full(noise());
  assert.deepEqual(said, [
    "pragma synchronous=full",
    ...["begin immediate", "commit"],
    "pragma synchronous=normal",
    ...["begin immediate", "commit", "begin immediate", "commit"],
    "pragma synchronous=full",
    ...["begin immediate", "commit"],
  ]);
});

test("a judged call and its claim are one FULL commit, a safe one needs none", async (t) => {
  const { ledger, said } = await counted(t);
  const writer = await begin(ledger);
  said.length = 0;
  const judged = writer.append(proposedDraft("c1"), judgedDraft("c1"));
  const claim = ledger.claim(writer.lease, 4, claimedDraft("c1"));
  assert.equal((await judged).length, 2);
  assert.ok("won" in (await claim));
  assert.deepEqual(said, ["pragma synchronous=full", "begin immediate", "commit"]);
  said.length = 0;
  const safe = ledger.append(writer.lease, 5, { events: [proposedDraft("c2"), judgedDraft("c2", { safe: true })], durability: "normal" });
  const read = ledger.claim(writer.lease, 7, claimedDraft("c2", { durability: "normal" }));
  await Promise.all([safe, read]);
  assert.deepEqual(said, ["pragma synchronous=normal", "begin immediate", "commit"]);
});

test("an answer is FULL", async (t) => {
  const { ledger, said } = await counted(t);
  const writer = await begin(ledger);
  await writer.append(proposedDraft("c1"), judgedDraft("c1", { verdict: "ask" }), openedDraft("c1"));
  said.length = 0;
  await ledger.answer([answeredDraft(A, "c1")]);
  assert.equal(said[0], "pragma synchronous=full");
});

test("nobody is told and no subscriber sees an event before its commit", async (t) => {
  const seen: string[] = [];
  let armed = false;
  const ledger = await madeLedger(t, {
    openDatabase: opening({ exec: (sql) => void (armed && sql === "commit" && seen.push(`commit after ${seen.length}`)) }),
  });
  const writer = await begin(ledger);
  const { promise, resolve } = Promise.withResolvers<void>();
  const subscription = ledger.subscribe({ pos: await ledger.head() }, {}, () => {
    seen.push("told");
    resolve();
  });
  armed = true;
  await writer.append(noise()).then(() => seen.push("resolved"));
  await promise;
  subscription.close();
  assert.equal(seen[0], "commit after 0");
  assert.deepEqual(seen.slice(1).sort(), ["resolved", "told"]);
});

test("the lists are written in the transaction of their event", async (t) => {
  const ledger = await madeLedger(t);
  const writer = await begin(ledger);
  await writer.append(proposedDraft("c1"), judgedDraft("c1", { verdict: "ask" }), openedDraft("c1"));
  tamper(ledger.directory, (database) => {
    assert.equal(database.prepare("select open from approvals where id = 'a_c1'").get()?.["open"], 1);
    assert.equal(database.prepare("select seq from sessions where session = ?").get(A)?.["seq"], 5);
  });
});

test("an id that was proposed is never proposed again, also not after its end", async (t) => {
  const ledger = await madeLedger(t);
  const writer = await begin(ledger);
  await writer.append(proposedDraft("c1"));
  await assert.rejects(writer.append(proposedDraft("c1")), { type: "event_invalid" });
  await writer.append({
    ...proposedDraft("c1"),
    type: "call.ended",
    body: { call: "c1", outcome: "cancelled", type: null, content: "", durationMs: 0 },
  });
  await assert.rejects(writer.append(proposedDraft("c1")), { type: "event_invalid" });
});

test("what is no event of this program, or carries no time, is refused", async (t) => {
  const ledger = await madeLedger(t);
  const writer = await begin(ledger);
  for (const draft of [
    { ...noise(), v: 2 },
    { ...noise(), type: "hook.runs" },
    { ...noise(), at: "yesterday" },
    { ...noise(), at: "2026-01-01T00:00:00Z" },
  ]) {
    await assert.rejects(writer.append(draft as never), { type: "event_invalid" });
  }
});

test("a closed ledger takes nothing more, and closing twice is no error", async (t) => {
  const ledger = await madeLedger(t);
  const writer = await begin(ledger);
  const last = writer.append(noise());
  await ledger.close();
  await ledger.close();
  assert.equal((await last).length, 1);
  await assert.rejects(writer.append(noise()), /closed/);
});
