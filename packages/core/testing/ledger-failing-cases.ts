import assert from "node:assert/strict";
import { LedgerError } from "../src/ledger-port.ts";
import { answeredDraft, claimedDraft, judgedDraft, openedDraft, proposedDraft } from "./drafts.ts";
import { begin, type LedgerBench, type LedgerCase, observe, readAll, type Writer } from "./ledger-bench.ts";

type Attempt = (bench: LedgerBench, writer: Writer) => Promise<unknown>;

/** The first of each two attempts fails; readers see only what the second one stores. */
const WRITES: readonly (readonly [id: string, what: string, attempt: Attempt, type: string])[] = [
  ["failed-append", "an append", (_bench, writer) => writer.append(openedDraft("c1", { revision: 2 })), "approval.opened"],
  ["failed-answer", "an answer", ({ ledger }, { session }) => ledger.answer([answeredDraft(session, "c1")]), "approval.answered"],
  ["failed-claim", "a claim", (_bench, writer) => writer.claim(claimedDraft("c2")), "call.claimed"],
];

/** A write that fails on a full disk stores nothing. */
export const FAILING_CASES: readonly LedgerCase[] = WRITES.map(([id, what, attempt, type]) => ({
  id,
  title: `${what} that failed is in no list, no reader and no subscriber, and can be tried again`,
  run: async (bench) => {
    const { ledger } = bench;
    const writer = await begin(bench);
    await writer.append(
      proposedDraft("c1"),
      judgedDraft("c1", { verdict: "ask" }),
      openedDraft("c1"),
      proposedDraft("c2"),
      judgedDraft("c2"),
    );
    const before = {
      events: await readAll(ledger),
      approvals: await ledger.pending("approvals", { all: true }),
      head: await ledger.head(),
    };
    const observer = observe(ledger, { pos: before.head }, { types: [type] });
    await bench.fail();
    await assert.rejects(attempt(bench, writer), LedgerError);
    const after = { events: await readAll(ledger), approvals: await ledger.pending("approvals", { all: true }), head: await ledger.head() };
    assert.deepEqual(after, before);
    await attempt(bench, writer);
    const stored = (await readAll(ledger, { pos: before.head }, { types: [type] })).map(({ pos }) => pos);
    assert.equal(stored.length, 1, "what failed before is stored now");
    await observer.seen(({ pos }) => pos === stored[0]);
    observer.close();
    assert.deepEqual(
      observer.events.map(({ pos }) => pos),
      stored,
    );
  },
}));
