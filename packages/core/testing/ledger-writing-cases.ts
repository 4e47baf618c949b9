import assert from "node:assert/strict";
import type { Draft } from "../src/model/events.ts";
import type { Json } from "../src/model/json/json.ts";
import { answeredDraft, claimedDraft, closedSessionDraft, draftOf, endedDraft, judgedDraft, openedDraft, proposedDraft } from "./drafts.ts";
import { begin, type LedgerCase, readAll, rejectsWith, sessionId } from "./ledger-bench.ts";

/** Appending: sequence, atomicity, valid events, permitted writers. */
export const WRITING_CASES: readonly LedgerCase[] = [
  {
    id: "append-other-head",
    title: "an append that expects another head is refused and stores nothing",
    run: async (bench) => {
      const writer = await begin(bench);
      await writer.append(proposedDraft("c1"), proposedDraft("c2"), proposedDraft("c3"));
      const batch = { events: [proposedDraft("c4")], durability: "full" } as const;
      const error = await rejectsWith("sequence_conflict", bench.ledger.append(writer.lease, 4, batch));
      assert.deepEqual([error.detail["expected"], error.detail["actual"]], [4, 5]);
      await rejectsWith("sequence_conflict", bench.ledger.append(writer.lease, 6, batch));
      assert.equal((await readAll(bench.ledger, { session: writer.session, seq: 0 })).length, 5);
      await writer.append(proposedDraft("c4"));
    },
  },
  {
    id: "append-all-or-none",
    title: "a batch of three whose third is illegal stores none of them, nor any trace of them",
    run: async (bench) => {
      const writer = await begin(bench);
      await rejectsWith("event_invalid", writer.append(proposedDraft("c1"), judgedDraft("c1", { verdict: "ask" }), judgedDraft("c2")));
      assert.equal((await readAll(bench.ledger, { session: writer.session, seq: 0 })).length, 2);
      await rejectsWith("event_invalid", writer.append(judgedDraft("c1")));
      const asked = [proposedDraft("c3"), judgedDraft("c3", { verdict: "ask" }), openedDraft("c3")];
      await rejectsWith("event_invalid", writer.append(...asked, judgedDraft("c2")));
      assert.deepEqual(await bench.ledger.pending("approvals", { all: true }), []);
      assert.equal((await writer.append(...asked)).length, 3);
    },
  },
  {
    id: "append-in-one-tick",
    title: "of 100 appends in one tick over 10 sessions one conflicts; 99 are stored, each session without a gap",
    run: async (bench) => {
      const writers = await Promise.all([..."abcdefghij"].map((letter) => begin(bench, sessionId(letter))));
      const attempts = writers.flatMap(({ lease, head }, which) =>
        Array.from({ length: 10 }, (_, turn) => {
          const expected = which === 4 && turn === 9 ? 99 : head() + turn;
          return bench.ledger.append(lease, expected, { events: [proposedDraft(`c${turn}`)], durability: turn % 2 ? "full" : "normal" });
        }),
      );
      const outcomes = await Promise.allSettled(attempts);
      assert.deepEqual(
        outcomes.flatMap(({ status }, at) => (status === "rejected" ? [at] : [])),
        [49],
      );
      for (const { session } of writers) {
        const seqs = (await readAll(bench.ledger, { session, seq: 0 })).map(({ seq }) => seq);
        assert.deepEqual(
          seqs,
          seqs.map((_, at) => at + 1),
        );
        assert.equal(seqs.length, session === sessionId("e") ? 11 : 12);
      }
    },
  },
  {
    id: "invalid-body",
    title: "a body with NaN, a lone surrogate or a depth of 1,025 is refused",
    run: async (bench) => {
      const writer = await begin(bench);
      let deep: Json = 0;
      for (let depth = 0; depth < 1_025; depth += 1) deep = [deep];
      for (const raw of [Number.NaN, "\ud800", deep]) await rejectsWith("event_invalid", writer.append(proposedDraft("c1", { raw })));
      assert.equal((await readAll(bench.ledger, { session: writer.session, seq: 0 })).length, 2);
    },
  },
  {
    id: "own-chain",
    title: "a claim, an answer, a grant or a record of the store cannot be appended to a session's chain",
    run: async (bench) => {
      const writer = await begin(bench);
      await writer.append(proposedDraft("c1"), judgedDraft("c1"));
      const foreign: readonly Draft[] = [
        claimedDraft("c1"),
        answeredDraft(writer.session, "c1"),
        draftOf("grant.revoked", { grant: "g_1", by: "Tester" }),
        draftOf("session.registered", { session: writer.session }),
      ];
      for (const draft of foreign) await rejectsWith("event_invalid", writer.append(draft));
      assert.equal((await readAll(bench.ledger, { session: writer.session, seq: 0 })).length, 4);
    },
  },
  {
    id: "illegal",
    title: "an event that the state of its call does not allow is refused",
    run: async (bench) => {
      const writer = await begin(bench);
      await rejectsWith("event_invalid", writer.append(endedDraft("c1")));
      await writer.append(proposedDraft("c1"));
      await rejectsWith("event_invalid", writer.append(proposedDraft("c1")));
      await rejectsWith("event_invalid", writer.append(endedDraft("c1")));
      await writer.append(judgedDraft("c1"));
      await rejectsWith("event_invalid", writer.append(openedDraft("c1")));
      await writer.claim(claimedDraft("c1"));
      await writer.append(endedDraft("c1"));
      await rejectsWith("event_invalid", writer.append(endedDraft("c1")));
    },
  },
  {
    id: "acquire",
    title: "a session is held by one writer until it closes, and a take-over says that recovery is due",
    run: async (bench) => {
      const { ledger, holder } = bench;
      const first = await begin(bench);
      assert.deepEqual([first.lease.head, first.lease.unclosed], [0, false]);
      const error = await rejectsWith("session_in_use", ledger.acquire(first.session, holder));
      assert.deepEqual(error.detail["holder"], { ...holder });
      const taken = await ledger.acquire(first.session, holder, true);
      assert.deepEqual([taken.head, taken.unclosed], [2, true]);
      await ledger.append(taken, 2, { events: [closedSessionDraft()], durability: "full" });
      const again = await ledger.acquire(first.session, holder);
      assert.deepEqual([again.head, again.unclosed], [3, false]);
      assert.ok(first.lease.epoch < taken.epoch && taken.epoch < again.epoch);
    },
  },
  {
    id: "epoch",
    title: "epochs rise over all sessions, and events carry the one they were written under",
    run: async (bench) => {
      const one = await begin(bench, sessionId("a"));
      const two = await begin(bench, sessionId("b"));
      assert.ok(two.lease.epoch > one.lease.epoch);
      const [event] = await one.append(proposedDraft("c1"));
      assert.equal(event?.epoch, one.lease.epoch);
    },
  },
  {
    id: "fencing",
    title: "a writer that was taken over can neither append nor claim",
    run: async (bench) => {
      const stale = await begin(bench);
      await stale.append(proposedDraft("c1"), judgedDraft("c1"));
      const current = await begin(bench, stale.session, true);
      const error = await rejectsWith("stale_writer", stale.append(proposedDraft("c2")));
      assert.deepEqual([error.detail["mine"], error.detail["current"]], [stale.lease.epoch, current.lease.epoch]);
      await rejectsWith("stale_writer", stale.claim(claimedDraft("c1")));
      assert.ok("won" in (await current.claim(claimedDraft("c1"))));
    },
  },
  {
    id: "fencing-nothing",
    title: "a batch without events stores nothing, and only the writer may",
    run: async (bench) => {
      const stale = await begin(bench);
      await stale.append();
      const current = await begin(bench, stale.session, true);
      await rejectsWith("stale_writer", stale.append());
      await current.append();
      const events = await readAll(bench.ledger, { session: stale.session, seq: 0 });
      assert.equal(events.filter(({ type }) => !type.startsWith("session.")).length, 0);
    },
  },
  {
    id: "fencing-second",
    title: "a take-over through another handle fences the first at once",
    run: async (bench) => {
      const stale = await begin(bench);
      const other = await bench.second();
      await rejectsWith("session_in_use", other.acquire(stale.session, bench.holder));
      const lease = await other.acquire(stale.session, bench.holder, true);
      await rejectsWith("stale_writer", stale.append(proposedDraft("c1")));
      await other.append(lease, 2, { events: [proposedDraft("c1")], durability: "full" });
      assert.equal((await readAll(bench.ledger, { session: stale.session, seq: 0 })).length, 3);
    },
  },
  {
    id: "hold",
    title: "a session that is held does not change hands, and once it has, its old writer cannot hold it",
    run: async (bench) => {
      const writer = await begin(bench);
      const other = await bench.second();
      const releases = [await bench.ledger.hold(writer.lease), await bench.ledger.hold(writer.lease)];
      for (const release of releases) {
        await rejectsWith("session_busy", other.acquire(writer.session, bench.holder, true));
        await writer.append(proposedDraft(`c${writer.head()}`));
        release();
      }
      const lease = await other.acquire(writer.session, bench.holder, true);
      await rejectsWith("stale_writer", bench.ledger.hold(writer.lease));
      (await other.hold(lease))();
    },
  },
  {
    id: "reopen",
    title: "a store that was closed and opened again holds the same events and continues counting",
    run: async (bench) => {
      const before = await begin(bench);
      await before.append(proposedDraft("c1"), judgedDraft("c1"));
      const events = await readAll(bench.ledger, { session: before.session, seq: 0 });
      const { storeId } = bench.ledger;
      const ledger = await bench.reopen();
      assert.equal(ledger.storeId, storeId);
      assert.deepEqual(await readAll(ledger, { session: before.session, seq: 0 }), events);
      const after = await begin({ ...bench, ledger }, before.session, true);
      assert.ok(after.lease.epoch > before.lease.epoch);
      assert.equal(after.lease.head, 4);
      const answer = await after.claim(claimedDraft("c1"));
      assert.ok("won" in answer && answer.won.seq === 5);
    },
  },
];
