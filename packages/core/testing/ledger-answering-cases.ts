import assert from "node:assert/strict";
import type { SharedDraft } from "../src/ledger-port.ts";
import { type EventBodies, SHARED } from "../src/model/events.ts";
import { followCancelRequests } from "../src/runtime/session/cancel-requests.ts";
import {
  answeredDraft,
  claimedDraft,
  closedDraft,
  draftOf,
  endedDraft,
  fingerprintOf,
  grantedDraft,
  judgedDraft,
  openedDraft,
  proposedDraft,
  TESTER,
} from "./drafts.ts";
import { begin, type LedgerBench, type LedgerCase, lostTo, readAll, rejectsWith, type Writer, wonBy } from "./ledger-bench.ts";

const PAST = "2020-01-01T00:00:00.000Z";
const FUTURE = "2100-01-01T00:00:00.000Z";
const AFTER_FUTURE = "2100-01-01T00:00:00.001Z";

/** A writer whose call `c1` waits for the open approval `a_c1`. */
async function waiting(bench: LedgerBench, over: Partial<EventBodies["approval.opened"]> = {}): Promise<Writer> {
  const writer = await begin(bench);
  await writer.append(proposedDraft("c1"), judgedDraft("c1", { verdict: "ask" }), openedDraft("c1", over));
  return writer;
}

async function sharedCount({ ledger }: LedgerBench): Promise<number> {
  const types = ["approval.answered", "approval.closed", "grant.created", "grant.used", "grant.revoked"];
  return (await readAll(ledger, { pos: 0 }, { session: SHARED, types })).length;
}

const revoked = (grant: string): SharedDraft => draftOf("grant.revoked", { grant, by: "Tester" });
const used = (grant: string, session: string): SharedDraft => draftOf("grant.used", { grant, session, call: "c1" });

const ANSWERS: readonly LedgerCase[] = [
  {
    id: "concurrent-answers",
    title: "of two answers at the same time one wins, and the other is given the winner's event",
    run: async (bench) => {
      const { session } = await waiting(bench);
      const other = await bench.second();
      const outcomes = await Promise.all([
        bench.ledger.answer([answeredDraft(session, "c1")]),
        other.answer([answeredDraft(session, "c1", { outcome: "rejected" })]),
      ]);
      const won = outcomes.flatMap((outcome) => ("won" in outcome ? outcome.won : []));
      const lost = outcomes.flatMap((outcome) => ("lost" in outcome ? [outcome.lost] : []));
      assert.equal(won.length, 1);
      assert.deepEqual(lost, won);
      assert.equal(await sharedCount(bench), 1);
    },
  },
  {
    id: "identical-answer",
    title: "the same answer twice is stored once and given back the second time",
    run: async (bench) => {
      const { session } = await waiting(bench);
      const first = wonBy(await bench.ledger.answer([answeredDraft(session, "c1")]));
      assert.deepEqual(lostTo(await bench.ledger.answer([answeredDraft(session, "c1")])), first[0]);
      assert.equal(await sharedCount(bench), 1);
    },
  },
  {
    id: "answer-row",
    title: "an answer is in the list as soon as it is acknowledged, with who and what",
    run: async (bench) => {
      const { session } = await waiting(bench);
      const [answered] = wonBy(await bench.ledger.answer([answeredDraft(session, "c1", { reason: "fine" })]));
      const [row] = await bench.ledger.pending("approvals", { all: true });
      assert.deepEqual(
        [row?.state, row?.answerReason, row?.answeredAt, row?.covers],
        ["approved", "fine", answered?.at, fingerprintOf("c1")],
      );
      assert.deepEqual(row?.answeredBy?.name, "Tester");
      assert.equal(row?.consumed, false);
      assert.deepEqual(await bench.ledger.pending("approvals"), []);
    },
  },
  {
    id: "unknown-approval",
    title: "an answer to an approval that is not there, or of another session, is refused",
    run: async (bench) => {
      const { session } = await waiting(bench);
      await rejectsWith("unknown_approval", bench.ledger.answer([answeredDraft(session, "c2")]));
      await rejectsWith("unknown_approval", bench.ledger.answer([answeredDraft("s_other", "c1")]));
      await rejectsWith("unknown_approval", bench.ledger.answer([closedDraft(session, "c2")]));
      assert.equal(await sharedCount(bench), 0);
    },
  },
  {
    id: "answer-types",
    title: "only answers, closes and grants go to the shared chain, and at least one of them",
    run: async (bench) => {
      await begin(bench);
      await rejectsWith("event_invalid", bench.ledger.answer([]));
      // A caller without types may try anything.
      const foreign = proposedDraft("c1") as never;
      await rejectsWith("event_invalid", bench.ledger.answer([foreign]));
    },
  },
  {
    id: "stale-revision",
    title: "an answer that names another revision or fingerprint is refused, and the approval stays open",
    run: async (bench) => {
      const { session } = await waiting(bench);
      await rejectsWith("stale_revision", bench.ledger.answer([answeredDraft(session, "c1", { revision: 2 })]));
      await rejectsWith("stale_revision", bench.ledger.answer([answeredDraft(session, "c1", { fingerprint: "another" })]));
      assert.equal((await bench.ledger.pending("approvals")).length, 1);
      wonBy(await bench.ledger.answer([answeredDraft(session, "c1")]));
    },
  },
  {
    id: "higher-revision",
    title: "an approval that opens again has a higher revision: answers to the older one are stale",
    run: async (bench) => {
      const writer = await waiting(bench);
      const { ledger } = bench;
      const judged = judgedDraft("c1", { verdict: "ask", revision: 2, fingerprint: "second" });
      await rejectsWith("event_invalid", writer.append(judged, openedDraft("c1", { fingerprint: "second" })));
      await writer.append(judged, openedDraft("c1", { revision: 2, fingerprint: "second" }));
      await rejectsWith("stale_revision", ledger.answer([answeredDraft(writer.session, "c1")]));
      const [row] = await ledger.pending("approvals");
      assert.deepEqual([row?.id, row?.revision, row?.fingerprint], ["a_c1", 2, "second"]);
      wonBy(await ledger.answer([answeredDraft(writer.session, "c1", { revision: 2, fingerprint: "second" })]));
    },
  },
  {
    id: "reopened-after-yes",
    title: "an approval that opens again after consent takes a new answer and forgets the old one",
    run: async (bench) => {
      const writer = await waiting(bench);
      const [first] = wonBy(await bench.ledger.answer([answeredDraft(writer.session, "c1")]));
      await writer.append(openedDraft("c1", { revision: 2 }));
      const [row] = await bench.ledger.pending("approvals");
      assert.deepEqual([row?.state, row?.answeredBy, row?.covers], ["open", null, null]);
      assert.deepEqual(await writer.claim(claimedDraft("c1", { answer: { pos: first?.pos ?? 0 } })), { lost: "answer_void" });
      const [second] = wonBy(await bench.ledger.answer([answeredDraft(writer.session, "c1", { revision: 2 })]));
      assert.ok("won" in (await writer.claim(claimedDraft("c1", { answer: { pos: second?.pos ?? 0 } }))));
    },
  },
  {
    id: "after-no",
    title: "nothing follows a rejection, and nothing follows a close",
    run: async (bench) => {
      const { session } = await waiting(bench);
      const [no] = wonBy(await bench.ledger.answer([answeredDraft(session, "c1", { outcome: "rejected" })]));
      assert.deepEqual(lostTo(await bench.ledger.answer([answeredDraft(session, "c1")])), no);
      assert.deepEqual(lostTo(await bench.ledger.answer([closedDraft(session, "c1")])), no);
    },
  },
  {
    id: "after-close",
    title: "an answer after a close loses to it",
    run: async (bench) => {
      const { session } = await waiting(bench);
      const [closed] = wonBy(await bench.ledger.answer([closedDraft(session, "c1", { outcome: "expired" })]));
      assert.deepEqual(lostTo(await bench.ledger.answer([answeredDraft(session, "c1")])), closed);
      assert.equal((await bench.ledger.pending("approvals", { all: true }))[0]?.state, "expired");
    },
  },
  {
    id: "after-yes",
    title: "one close may follow consent, denied or cancelled, never expired",
    run: async (bench) => {
      const { session } = await waiting(bench);
      const [yes] = wonBy(await bench.ledger.answer([answeredDraft(session, "c1")]));
      assert.deepEqual(lostTo(await bench.ledger.answer([closedDraft(session, "c1", { outcome: "expired" })])), yes);
      const [closed] = wonBy(await bench.ledger.answer([closedDraft(session, "c1", { outcome: "denied" })]));
      assert.deepEqual(lostTo(await bench.ledger.answer([closedDraft(session, "c1")])), closed);
      assert.deepEqual(lostTo(await bench.ledger.answer([answeredDraft(session, "c1")])), closed);
    },
  },
  {
    id: "after-claim",
    title: "no close follows consent that was claimed",
    run: async (bench) => {
      const writer = await waiting(bench);
      const [yes] = wonBy(await bench.ledger.answer([answeredDraft(writer.session, "c1")]));
      await writer.claim(claimedDraft("c1", { answer: { pos: yes?.pos ?? 0 } }));
      assert.deepEqual(lostTo(await bench.ledger.answer([closedDraft(writer.session, "c1")])), yes);
      assert.equal((await bench.ledger.pending("approvals", { all: true }))[0]?.consumed, true);
    },
  },
  {
    id: "after-end",
    title: "the approval of a call that ended takes no answer and is not listed as open",
    run: async (bench) => {
      const writer = await waiting(bench);
      const [ended] = await writer.append(endedDraft("c1", { outcome: "cancelled" }));
      assert.deepEqual(await bench.ledger.pending("approvals"), []);
      assert.deepEqual(lostTo(await bench.ledger.answer([answeredDraft(writer.session, "c1")])), ended);
    },
  },
  {
    id: "answer-batch",
    title: "an answer and the grants it makes are stored together, and a lost answer makes none",
    run: async (bench) => {
      const { session } = await waiting(bench);
      const remember = (grant: string): SharedDraft[] => [answeredDraft(session, "c1"), grantedDraft(grant), grantedDraft(`${grant}b`)];
      assert.equal(wonBy(await bench.ledger.answer(remember("g_1"))).length, 3);
      lostTo(await bench.ledger.answer(remember("g_2")));
      assert.deepEqual(
        (await bench.ledger.pending("grants", { all: true })).map(({ id }) => id),
        ["g_1", "g_1b"],
      );
    },
  },
  {
    id: "answer-all-or-none",
    title: "an answer whose second event is refused leaves the approval open",
    run: async (bench) => {
      const { session } = await waiting(bench);
      const [made] = wonBy(await bench.ledger.answer([grantedDraft("g_1")]));
      await rejectsWith("grant_not_found", bench.ledger.answer([answeredDraft(session, "c1"), revoked("g_none")]));
      assert.deepEqual(lostTo(await bench.ledger.answer([answeredDraft(session, "c1"), grantedDraft("g_1")])), made);
      assert.equal((await bench.ledger.pending("approvals")).length, 1);
      assert.equal(await sharedCount(bench), 1);
      wonBy(await bench.ledger.answer([answeredDraft(session, "c1")]));
    },
  },
  {
    id: "answer-after-deadline",
    title: "an approve after the deadline loses, a reject does not, and without a deadline it stays open",
    run: async (bench) => {
      const { session } = await waiting(bench, { expiresAt: PAST });
      assert.equal(lostTo(await bench.ledger.answer([answeredDraft(session, "c1")])).type, "approval.opened");
      wonBy(await bench.ledger.answer([answeredDraft(session, "c1", { outcome: "rejected" })]));
    },
  },
  {
    id: "deadline-with-clock-set-back",
    title: "a clock that was set back extends no deadline: the newest time in the ledger counts",
    run: async (bench) => {
      const writer = await waiting(bench, { expiresAt: FUTURE });
      await writer.append(proposedDraft("c2"), judgedDraft("c2", { verdict: "ask" }), openedDraft("c2"));
      await writer.append(draftOf("mode.changed", { from: "default", to: "yolo", by: "Tester" }, AFTER_FUTURE));
      await writer.append(draftOf("mode.changed", { from: "yolo", to: "default", by: "Tester" }, PAST));
      assert.equal(lostTo(await bench.ledger.answer([answeredDraft(writer.session, "c1")])).type, "approval.opened");
      wonBy(await bench.ledger.answer([answeredDraft(writer.session, "c2")]));
    },
  },
  {
    id: "answer-before-deadline",
    title: "an answer before the deadline wins",
    run: async (bench) => {
      const { session } = await waiting(bench, { expiresAt: FUTURE });
      wonBy(await bench.ledger.answer([answeredDraft(session, "c1")]));
    },
  },
  {
    id: "answer-through-another-handle",
    title: "another handle answers while the writer is idle; the writer then claims once",
    run: async (bench) => {
      const writer = await waiting(bench);
      const other = await bench.second();
      const [yes] = wonBy(await other.answer([answeredDraft(writer.session, "c1")]));
      assert.equal((await bench.ledger.pending("approvals", { all: true }))[0]?.state, "approved");
      const claimed = claimedDraft("c1", { answer: { pos: yes?.pos ?? 0 } });
      assert.ok("won" in (await writer.claim(claimed)));
      assert.deepEqual(await writer.claim(claimed), { lost: "already_claimed" });
    },
  },
];

const GRANTS: readonly LedgerCase[] = [
  {
    id: "grant-uses",
    title: "a grant with a use count is used that often and no more",
    run: async (bench) => {
      const { session } = await begin(bench);
      wonBy(await bench.ledger.answer([grantedDraft("g_1", { uses: 2 })]));
      wonBy(await bench.ledger.answer([used("g_1", session)]));
      assert.equal((await bench.ledger.pending("grants"))[0]?.usesLeft, 1);
      const [last] = wonBy(await bench.ledger.answer([used("g_1", session)]));
      assert.deepEqual(lostTo(await bench.ledger.answer([used("g_1", session)])), last);
      assert.deepEqual(await bench.ledger.pending("grants"), []);
      assert.equal((await bench.ledger.pending("grants", { all: true }))[0]?.state, "used_up");
    },
  },
  {
    id: "grant-race",
    title: "the last use of a grant is won once, also through two handles",
    run: async (bench) => {
      const { session } = await begin(bench);
      const other = await bench.second();
      wonBy(await bench.ledger.answer([grantedDraft("g_1", { uses: 1 })]));
      const outcomes = await Promise.all([bench.ledger.answer([used("g_1", session)]), other.answer([used("g_1", session)])]);
      assert.equal(outcomes.filter((outcome) => "won" in outcome).length, 1);
    },
  },
  {
    id: "grant-revoke",
    title: "a grant is revoked once and not used after",
    run: async (bench) => {
      const { session } = await begin(bench);
      wonBy(await bench.ledger.answer([grantedDraft("g_1", { uses: 5 })]));
      const [gone] = wonBy(await bench.ledger.answer([revoked("g_1")]));
      assert.deepEqual(lostTo(await bench.ledger.answer([revoked("g_1")])), gone);
      assert.deepEqual(lostTo(await bench.ledger.answer([used("g_1", session)])), gone);
      assert.equal((await bench.ledger.pending("grants", { all: true }))[0]?.state, "revoked");
    },
  },
  {
    id: "grant-unknown",
    title: "a grant that is not there is neither used nor revoked",
    run: async (bench) => {
      const { session } = await begin(bench);
      await rejectsWith("grant_not_found", bench.ledger.answer([revoked("g_1")]));
      await rejectsWith("grant_not_found", bench.ledger.answer([used("g_1", session)]));
    },
  },
  {
    id: "grant-expired",
    title: "an expired grant is listed as such and cannot be used",
    run: async (bench) => {
      const { session } = await begin(bench);
      const [made] = wonBy(await bench.ledger.answer([grantedDraft("g_1", { expiresAt: PAST, uses: 1 })]));
      assert.deepEqual(await bench.ledger.pending("grants"), []);
      assert.equal((await bench.ledger.pending("grants", { all: true }))[0]?.state, "expired");
      assert.deepEqual(lostTo(await bench.ledger.answer([used("g_1", session)])), made);
    },
  },
];

const TRUST: readonly LedgerCase[] = [
  {
    id: "trust-of-workspace",
    title: "trust is found by its workspace alone, newest last, makes no session, and keeps large files",
    run: async (bench) => {
      const { session } = await begin(bench);
      const files = [{ name: "AGENTS.md", text: "x".repeat(100_000) }];
      const granted = { workspace: "/w", device: "1", inode: "2", digest: "d", files, by: TESTER };
      wonBy(await bench.ledger.answer([draftOf("trust.granted", granted)]));
      wonBy(await bench.ledger.answer([draftOf("trust.granted", { ...granted, workspace: "/w/nested" })]));
      wonBy(await bench.ledger.answer([draftOf("trust.revoked", { workspace: "/w", by: TESTER })]));
      wonBy(await bench.ledger.answer([draftOf("trust.revoked", { workspace: "/w", by: TESTER })]));
      const found = await readAll(bench.ledger, { pos: 0 }, { naming: "trust:/w" });
      assert.deepEqual(
        found.map(({ type }) => type),
        ["trust.granted", "trust.revoked", "trust.revoked"],
      );
      assert.deepEqual((await bench.ledger.resolve(found[0]?.body ?? {}))["files"], files);
      assert.deepEqual(
        (await bench.ledger.pending("sessions", { all: true })).map(({ id }) => id),
        [session],
      );
    },
  },
];

const CANCELS: readonly LedgerCase[] = [
  {
    id: "cancel-requested",
    title: "a request to cancel reaches those who follow its session and nobody who began later; it changes nothing by itself",
    run: async (bench) => {
      const { session } = await waiting(bench);
      const request = (target: EventBodies["cancel.requested"]["target"], of = session): SharedDraft =>
        draftOf("cancel.requested", { session: of, target, reason: null, by: TESTER });
      const before = request({ call: "early" });
      wonBy(await bench.ledger.answer([before]));
      const heard: unknown[] = [];
      const arrived = Promise.withResolvers<void>();
      const following = followCancelRequests(bench.ledger, session, ({ target }) => {
        heard.push(target);
        if (target === null) arrived.resolve();
      });
      const other = followCancelRequests(bench.ledger, "s_other", () => heard.push("another session"));
      await bench.ledger.head(); // it follows from its own look at the head, which was asked for earlier
      await new Promise((resolve) => setImmediate(resolve));
      wonBy(await bench.ledger.answer([request({ call: "c1" })]));
      wonBy(await bench.ledger.answer([request({ task: "t_1" })]));
      wonBy(await bench.ledger.answer([request(null)]));
      await arrived.promise;
      following.close();
      other.close();
      assert.deepEqual(heard, [{ call: "c1" }, { task: "t_1" }, null]);
      assert.equal((await bench.ledger.pending("approvals"))[0]?.state, "open");
    },
  },
];

/** Answers, closes, grants, trust, requests to cancel and deadlines. */
export const ANSWERING_CASES: readonly LedgerCase[] = [...ANSWERS, ...GRANTS, ...TRUST, ...CANCELS];
