import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { PageQuery, QuestionRow } from "../src/ledger-port.ts";
import { type Draft, SHARED, type StoredEvent } from "../src/model/events.ts";
import type { ProposalRow } from "../src/model/proposal/proposal.ts";
import {
  applyingDraft,
  askedDraft,
  claimedDraft,
  draftOf,
  endedDraft,
  fingerprintOf,
  judgedDraft,
  proposalDigestOf,
  proposedDraft,
  repliedDraft,
  requestedDraft,
  stagedDraft,
  TESTER,
} from "./drafts.ts";
import { begin, type LedgerBench, type LedgerCase, lostTo, readAll, rejectsWith, sessionId, type Writer, wonBy } from "./ledger-bench.ts";

const A = sessionId("a");
const B = sessionId("b");

const applied = (proposal: string): Draft => draftOf("proposal.applied", { proposal, superseded: [] });
const undone = (proposal: string): Draft => draftOf("proposal.undone", { proposal, by: TESTER, reason: null });
const discarded = (proposal: string): Draft =>
  draftOf("proposal.discarded", { proposal, resolution: { action: "discard", by: "person", who: TESTER, reason: "no", at: "" } });
const failed = (proposal: string): Draft =>
  draftOf("proposal.apply_failed", { proposal, type: "proposal_apply_failed", message: "disk full" });

async function proposal({ ledger }: LedgerBench, id: string): Promise<ProposalRow | undefined> {
  const [row] = await ledger.pending("proposals", { prefix: id, all: true });
  return row;
}

async function question({ ledger }: Pick<LedgerBench, "ledger">, id: string): Promise<QuestionRow | undefined> {
  const [row] = await ledger.pending("questions", { prefix: id, all: true });
  return row;
}

/** Everything recorded besides the beginning of a session. */
async function recorded({ ledger }: LedgerBench, session: string): Promise<readonly StoredEvent[]> {
  return readAll(ledger, { session, seq: 2 });
}

async function asking(writer: Writer, call: string, id: string): Promise<void> {
  await writer.append(proposedDraft(call, { tool: "ask" }), judgedDraft(call, { tool: "ask" }));
  await writer.claim(claimedDraft(call));
  await writer.append(askedDraft(id, call));
}

/** Five proposals over two sessions; p_3 is discarded, p_4 is being applied. */
async function fiveProposals(bench: LedgerBench): Promise<void> {
  const one = await begin(bench, A);
  const two = await begin(bench, B);
  await one.append(stagedDraft("p_1"));
  await two.append(stagedDraft("p_2", { tool: "write" }));
  await one.append(stagedDraft("p_3"), discarded("p_3"), stagedDraft("p_4", { tool: "write" }), applyingDraft("p_4"));
  await two.append(stagedDraft("p_55"));
}

const PROPOSAL_PAGES: readonly (readonly [string, PageQuery, readonly string[]])[] = [
  ["what is staged or being applied, oldest first", {}, ["p_1", "p_2", "p_4", "p_55"]],
  ["a first page", { limit: 2 }, ["p_1", "p_2"]],
  ["the next page", { limit: 2, after: "p_2" }, ["p_4", "p_55"]],
  ["what comes after one that is settled", { after: "p_3" }, ["p_4", "p_55"]],
  ["those of a session", { session: A }, ["p_1", "p_4"]],
  ["those of a tool", { tool: "write" }, ["p_2", "p_4"]],
  ["also what is settled", { all: true }, ["p_1", "p_2", "p_3", "p_4", "p_55"]],
  ["those of a prefix", { prefix: "p_5" }, ["p_55"]],
];

/** Four questions over two sessions; q_2 is answered. */
async function fourQuestions(bench: LedgerBench): Promise<void> {
  const one = await begin(bench, A);
  const two = await begin(bench, B);
  await asking(one, "c1", "q_1");
  await asking(one, "c2", "q_2");
  await asking(two, "c1", "q_3");
  await asking(two, "c2", "q_44");
  wonBy(await bench.ledger.answer([repliedDraft(A, "q_2")]));
}

const QUESTION_PAGES: readonly (readonly [string, PageQuery, readonly string[]])[] = [
  ["those without an answer, oldest first", {}, ["q_1", "q_3", "q_44"]],
  ["a first page", { limit: 1 }, ["q_1"]],
  ["what comes after one that has its answer", { after: "q_2" }, ["q_3", "q_44"]],
  ["those of a session", { session: A }, ["q_1"]],
  ["also what has its answer", { all: true }, ["q_1", "q_2", "q_3", "q_44"]],
  ["those of a prefix", { prefix: "q_4" }, ["q_44"]],
  ["none for a tool, because it is of none", { tool: "ask" }, []],
];

type Pages = {
  readonly kind: "proposals" | "questions";
  readonly make: (bench: LedgerBench) => Promise<void>;
  readonly pages: typeof PROPOSAL_PAGES;
};

function pageCases({ kind, make, pages }: Pages): readonly LedgerCase[] {
  return pages.map(([title, query, expected]) => ({
    id: `${kind}-${title.replaceAll(/[ ,]+/g, "-")}`,
    title: `the list of ${kind} gives ${title}`,
    run: async (bench) => {
      await make(bench);
      const rows: readonly { readonly id: string }[] = await bench.ledger.pending(kind, query);
      assert.deepEqual(
        rows.map(({ id }) => id),
        expected,
      );
    },
  }));
}

const PROPOSALS: readonly LedgerCase[] = [
  ...pageCases({ kind: "proposals", make: fiveProposals, pages: PROPOSAL_PAGES }),
  {
    id: "proposal-row",
    title: "a proposal is listed as it was staged",
    run: async (bench) => {
      const writer = await begin(bench, A);
      const [event] = await writer.append(stagedDraft("p_1", { callId: "c1", label: "Edit: b.txt", files: 2 }));
      const row = await proposal(bench, "p_1");
      assert.deepEqual(
        [row?.session, row?.seq, row?.callId, row?.tool, row?.label, row?.files, row?.digest, row?.stagedAt],
        [A, event?.seq, "c1", "edit", "Edit: b.txt", 2, proposalDigestOf("p_1"), event?.at],
      );
      assert.deepEqual([row?.state, row?.parked, row?.requested, row?.resolution], ["staged", false, null, null]);
    },
  },
  {
    id: "proposal-life",
    title: "a proposal that was applied is open no more, and can be undone",
    run: async (bench) => {
      const writer = await begin(bench, A);
      await writer.append(stagedDraft("p_1"), applyingDraft("p_1"));
      assert.deepEqual([(await proposal(bench, "p_1"))?.state, (await bench.ledger.pending("proposals")).length], ["applying", 1]);
      await writer.append(applied("p_1"));
      assert.deepEqual([(await proposal(bench, "p_1"))?.state, (await bench.ledger.pending("proposals")).length], ["applied", 0]);
      await writer.append(undone("p_1"));
      assert.equal((await proposal(bench, "p_1"))?.state, "undone");
    },
  },
  {
    id: "proposal-failed",
    title: "a proposal whose apply failed is staged again, with its error and one failure more",
    run: async (bench) => {
      const writer = await begin(bench, A);
      await writer.append(stagedDraft("p_1"), applyingDraft("p_1"), failed("p_1"));
      const [row] = await bench.ledger.pending("proposals");
      assert.deepEqual([row?.state, row?.failures, row?.error?.message], ["staged", 1, "disk full"]);
    },
  },
  {
    id: "proposal-illegal",
    title: "an event that a proposal's state does not allow is refused, with everything that came with it",
    run: async (bench) => {
      const one = await begin(bench, A);
      const two = await begin(bench, B);
      await one.append(stagedDraft("p_1"));
      const illegal: readonly (readonly [Writer, readonly Draft[]])[] = [
        [one, [applied("p_1")]],
        [one, [undone("p_1")]],
        [one, [stagedDraft("p_1")]],
        [one, [applyingDraft("p_1", { digest: "another" })]],
        [one, [applyingDraft("p_0")]],
        [two, [discarded("p_1")]],
        [two, [stagedDraft("p_1")]],
        [one, [discarded("p_1"), applyingDraft("p_1")]],
        [one, [stagedDraft("p_2"), applied("p_2")]],
      ];
      for (const [writer, events] of illegal) await rejectsWith("event_invalid", writer.append(...events));
      assert.deepEqual([(await recorded(bench, A)).length, (await recorded(bench, B)).length], [1, 0]);
      const rows = await bench.ledger.pending("proposals", { all: true });
      assert.deepEqual(
        rows.map(({ id, state }) => [id, state]),
        [["p_1", "staged"]],
      );
    },
  },
  {
    id: "proposal-requested",
    title: "any process may say any number of times what it wants done with a proposal; the newest request counts until it is settled",
    run: async (bench) => {
      const writer = await begin(bench, A);
      await writer.append(stagedDraft("p_1"));
      const other = await bench.second();
      wonBy(await other.answer([requestedDraft(A, "p_1")]));
      const [newest] = wonBy(await bench.ledger.answer([requestedDraft(A, "p_1", { action: "discard" })]));
      assert.deepEqual((await proposal(bench, "p_1"))?.requested, { action: "discard", pos: newest?.pos });
      const named = await readAll(bench.ledger, { pos: 0 }, { naming: A, types: ["proposal.requested"] });
      assert.deepEqual(
        named.map(({ session, body }) => [session, body["action"]]),
        [
          [SHARED, "apply"],
          [SHARED, "discard"],
        ],
      );
      await writer.append(discarded("p_1"));
      assert.equal((await proposal(bench, "p_1"))?.requested, null);
    },
  },
  {
    id: "proposal-refused",
    title: "a request that the holder refuses is settled, and the proposal is unchanged",
    run: async (bench) => {
      const writer = await begin(bench, A);
      await writer.append(stagedDraft("p_1"), applyingDraft("p_1"), applied("p_1"));
      wonBy(await bench.ledger.answer([requestedDraft(A, "p_1", { action: "undo" })]));
      const refused = { proposal: "p_1", action: "undo", type: "undo_conflict", message: "changed since" } as const;
      await writer.append(draftOf("proposal.refused", refused));
      const row = await proposal(bench, "p_1");
      assert.deepEqual([row?.state, row?.requested], ["applied", null]);
    },
  },
  {
    id: "proposal-not-found",
    title: "a request for a proposal that the session does not have is refused, and so is one for another content than was shown",
    run: async (bench) => {
      const writer = await begin(bench, A);
      await writer.append(stagedDraft("p_1"));
      await rejectsWith("proposal_not_found", bench.ledger.answer([requestedDraft(A, "p_2")]));
      await rejectsWith("proposal_not_found", bench.ledger.answer([requestedDraft(B, "p_1")]));
      await rejectsWith("stale_revision", bench.ledger.answer([requestedDraft(A, "p_1", { digest: "another" })]));
      assert.equal((await proposal(bench, "p_1"))?.requested, null);
      assert.deepEqual(await readAll(bench.ledger, { pos: 0 }, { session: SHARED, types: ["proposal.requested"] }), []);
    },
  },
];

const QUESTIONS: readonly LedgerCase[] = [
  ...pageCases({ kind: "questions", make: fourQuestions, pages: QUESTION_PAGES }),
  {
    id: "question-row",
    title: "a question is listed as it was asked, and after its answer with who said what",
    run: async (bench) => {
      const writer = await begin(bench, A);
      await asking(writer, "c1", "q_1");
      const open = await question(bench, "q_1");
      assert.deepEqual([open?.session, open?.callId, open?.fingerprint, open?.state], [A, "c1", fingerprintOf("c1"), "open"]);
      assert.equal(open?.questions[0]?.question, "Which database?");
      const [answer] = wonBy(await bench.ledger.answer([repliedDraft(A, "q_1", { reason: "small" })]));
      const row = await question(bench, "q_1");
      assert.deepEqual([row?.state, row?.answerReason, row?.answeredAt], ["answered", "small", answer?.at]);
      assert.deepEqual([row?.answeredBy, row?.answers], [TESTER, [{ id: "db", selected: ["SQLite"] }]]);
    },
  },
  {
    id: "question-illegal",
    title: "only a call that runs asks, and each question once",
    run: async (bench) => {
      const writer = await begin(bench, A);
      await rejectsWith("event_invalid", writer.append(askedDraft("q_0", "c0")));
      await writer.append(proposedDraft("c1"), judgedDraft("c1"));
      await rejectsWith("event_invalid", writer.append(askedDraft("q_1", "c1")));
      await writer.claim(claimedDraft("c1"));
      await writer.append(askedDraft("q_1", "c1"));
      await rejectsWith("event_invalid", writer.append(askedDraft("q_2", "c1"), askedDraft("q_1", "c1")));
      await writer.append(endedDraft("c1"));
      await rejectsWith("event_invalid", writer.append(askedDraft("q_3", "c1")));
      assert.deepEqual(
        (await bench.ledger.pending("questions", { all: true })).map(({ id, state }) => [id, state]),
        [["q_1", "cancelled"]],
      );
    },
  },
  {
    id: "first-question-answer",
    title: "the first answer to a question wins, and a later one gets that event",
    run: async (bench) => {
      const writer = await begin(bench, A);
      await asking(writer, "c1", "q_1");
      const [first] = wonBy(await bench.ledger.answer([repliedDraft(A, "q_1", { outcome: "declined" })]));
      assert.deepEqual(lostTo(await bench.ledger.answer([repliedDraft(A, "q_1")])), first);
      assert.equal((await question(bench, "q_1"))?.state, "declined");
      await writer.append(endedDraft("c1", { outcome: "cancelled" }));
      assert.equal((await question(bench, "q_1"))?.state, "declined");
      assert.deepEqual(lostTo(await bench.ledger.answer([repliedDraft(A, "q_1")])), first);
    },
  },
  {
    id: "concurrent-question-answers",
    title: "of two answers to a question at the same time one wins",
    run: async (bench) => {
      const writer = await begin(bench, A);
      await asking(writer, "c1", "q_1");
      const other = await bench.second();
      const outcomes = await Promise.all([bench.ledger.answer([repliedDraft(A, "q_1")]), other.answer([repliedDraft(A, "q_1")])]);
      const won = outcomes.flatMap((outcome) => ("won" in outcome ? outcome.won : []));
      assert.equal(won.length, 1);
      assert.deepEqual(
        outcomes.flatMap((outcome) => ("lost" in outcome ? [outcome.lost] : [])),
        won,
      );
    },
  },
  {
    id: "question-of-ended-call",
    title: "a question whose call ends is cancelled, and a later answer is given that end",
    run: async (bench) => {
      const writer = await begin(bench, A);
      await asking(writer, "c1", "q_1");
      await asking(writer, "c2", "q_2");
      const [end] = await writer.append(endedDraft("c1", { outcome: "cancelled", type: "cancelled" }));
      assert.deepEqual([(await question(bench, "q_1"))?.state, (await question(bench, "q_2"))?.state], ["cancelled", "open"]);
      assert.deepEqual(lostTo(await bench.ledger.answer([repliedDraft(A, "q_1")])), end);
    },
  },
  {
    id: "question-end-refused",
    title: "an end that is not stored cancels no question",
    run: async (bench) => {
      const writer = await begin(bench, A);
      await asking(writer, "c1", "q_1");
      await rejectsWith("event_invalid", writer.append(endedDraft("c1"), endedDraft("c1")));
      assert.equal((await question(bench, "q_1"))?.state, "open");
      await writer.append(endedDraft("c1"));
      assert.equal((await question(bench, "q_1"))?.state, "cancelled");
    },
  },
  {
    id: "unknown-question",
    title: "an answer to a question that is not there, or of another session, is refused",
    run: async (bench) => {
      const writer = await begin(bench, A);
      await asking(writer, "c1", "q_1");
      await rejectsWith("unknown_approval", bench.ledger.answer([repliedDraft(A, "q_2")]));
      await rejectsWith("unknown_approval", bench.ledger.answer([repliedDraft(B, "q_1")]));
      assert.equal((await question(bench, "q_1"))?.state, "open");
    },
  },
];

const BEFORE = new TextEncoder().encode("before\n");
const AFTER = Uint8Array.from({ length: 100_000 }, (_, at) => at % 251);
const EMPTY = new Uint8Array();

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function staging(id: string, ...contents: readonly Uint8Array[]): Draft<"proposal.staged"> {
  return stagedDraft(id, { contents: contents.map(sha256) });
}

const CONTENTS: readonly LedgerCase[] = [
  {
    id: "contents",
    title: "contents that come beside an event are kept by their hash, byte for byte",
    run: async (bench) => {
      const writer = await begin(bench, A);
      await writer.appendWith([BEFORE, AFTER, EMPTY, BEFORE], staging("p_1", BEFORE, AFTER, EMPTY));
      for (const bytes of [BEFORE, AFTER, EMPTY]) assert.deepEqual(Buffer.from(await bench.ledger.blob(sha256(bytes))), Buffer.from(bytes));
    },
  },
  {
    id: "contents-kept",
    title: "a content that is kept already need not be given again, in any session",
    run: async (bench) => {
      const one = await begin(bench, A);
      const two = await begin(bench, B);
      await one.appendWith([BEFORE], staging("p_1", BEFORE), staging("p_2", BEFORE));
      await two.append(staging("p_3", BEFORE));
      await two.appendWith([BEFORE, AFTER], staging("p_4", BEFORE, AFTER));
      assert.equal((await bench.ledger.pending("proposals")).length, 4);
    },
  },
  {
    id: "contents-missing",
    title: "an event that names a missing content is refused, and so is a content that no event names",
    run: async (bench) => {
      const writer = await begin(bench, A);
      await rejectsWith("blob_missing", bench.ledger.blob(sha256(BEFORE)));
      await rejectsWith("blob_missing", writer.append(staging("p_1", BEFORE)));
      await rejectsWith("blob_missing", writer.appendWith([AFTER], staging("p_1", AFTER), staging("p_2", BEFORE)));
      await rejectsWith("event_invalid", writer.appendWith([AFTER, BEFORE], staging("p_1", AFTER)));
      assert.deepEqual([(await recorded(bench, A)).length, (await bench.ledger.pending("proposals")).length], [0, 0]);
    },
  },
  {
    id: "contents-refused",
    title: "contents of a batch that is refused are not kept",
    run: async (bench) => {
      const writer = await begin(bench, A);
      await rejectsWith("event_invalid", writer.appendWith([AFTER], staging("p_1", AFTER), applied("p_1")));
      const stale = bench.ledger.append(writer.lease, 1, { events: [staging("p_1", BEFORE)], durability: "normal", blobs: [BEFORE] });
      await rejectsWith("sequence_conflict", stale);
      await rejectsWith("blob_missing", bench.ledger.blob(sha256(AFTER)));
      await rejectsWith("blob_missing", bench.ledger.blob(sha256(BEFORE)));
    },
  },
  {
    id: "contents-order",
    title: "what is issued behind an append with contents is stored behind it",
    run: async (bench) => {
      const { lease, session } = await begin(bench, A);
      const written = [
        bench.ledger.append(lease, 2, { events: [staging("p_1", AFTER)], durability: "normal", blobs: [AFTER] }),
        bench.ledger.append(lease, 3, { events: [applyingDraft("p_1"), proposedDraft("c1")], durability: "normal" }),
        bench.ledger.append(lease, 5, { events: [applied("p_1"), judgedDraft("c1")], durability: "normal" }),
        bench.ledger.claim(lease, 7, claimedDraft("c1")),
        bench.ledger.append(lease, 8, { events: [askedDraft("q_1", "c1")], durability: "normal" }),
        bench.ledger.answer([repliedDraft(session, "q_1")]),
      ];
      await Promise.all(written);
      assert.deepEqual(
        (await recorded(bench, A)).map(({ type }) => type),
        ["proposal.staged", "proposal.applying", "call.proposed", "proposal.applied", "call.judged", "call.claimed", "question.asked"],
      );
      assert.equal((await question(bench, "q_1"))?.state, "answered");
    },
  },
  {
    id: "reopen-proposals",
    title: "proposals, questions and contents are there after the store was closed and opened again",
    run: async (bench) => {
      const writer = await begin(bench, A);
      await writer.appendWith([AFTER], staging("p_1", AFTER), stagedDraft("p_2"), applyingDraft("p_2"));
      await asking(writer, "c1", "q_1");
      const listed = [await proposal(bench, "p_1"), await proposal(bench, "p_2"), await question(bench, "q_1")];
      const ledger = await bench.reopen();
      const again = { ...bench, ledger };
      assert.deepEqual([await proposal(again, "p_1"), await proposal(again, "p_2"), await question(again, "q_1")], listed);
      assert.deepEqual(Buffer.from(await ledger.blob(sha256(AFTER))), Buffer.from(AFTER));
      wonBy(await ledger.answer([repliedDraft(A, "q_1")]));
      const next = await begin(again, A, true);
      await next.append(applied("p_2"), endedDraft("c1"));
      assert.deepEqual([(await proposal(again, "p_2"))?.state, (await question(again, "q_1"))?.state], ["applied", "answered"]);
    },
  },
];

/** Proposals, questions, and their stored contents. */
export const PROPOSAL_CASES: readonly LedgerCase[] = [...PROPOSALS, ...QUESTIONS, ...CONTENTS];
