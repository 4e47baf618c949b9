import assert from "node:assert/strict";
import type { ClaimLost } from "../src/ledger-port.ts";
import type { By } from "../src/model/answer.ts";
import type { Draft, EventBodies, LedgerEvent } from "../src/model/events.ts";
import {
  answeredDraft,
  claimedDraft,
  closedDraft,
  draftOf,
  grantedDraft,
  judgedDraft,
  liftedDraft,
  openedDraft,
  proposedDraft,
  TESTER,
} from "./drafts.ts";
import { begin, type LedgerBench, type LedgerCase, rejectsWith, type Writer, wonBy } from "./ledger-bench.ts";

const CHANGED = draftOf("policy.changed", { revision: "policy-2", digest: "digest" });
const ASK = { verdict: "ask" } as const;
const WAITS: readonly Draft[] = [proposedDraft("c1"), judgedDraft("c1", ASK), openedDraft("c1")];
const BY_GRANT: By = { ...TESTER, kind: "grant", name: "g_1" };

/** A step may return the consenting event; later claims name the newest one. */
type Step = (writer: Writer, bench: LedgerBench, yes: LedgerEvent | undefined) => Promise<LedgerEvent | undefined>;

const append =
  (...drafts: readonly Draft[]): Step =>
  async (writer) =>
    (await writer.append(...drafts)).at(-1);
const answer =
  (over: Partial<EventBodies["approval.answered"]> = {}): Step =>
  async ({ session }, { ledger }) =>
    wonBy(await ledger.answer([answeredDraft(session, "c1", over)]))[0];
const close =
  (outcome: "denied" | "cancelled"): Step =>
  async ({ session }, { ledger }) =>
    void wonBy(await ledger.answer([closedDraft(session, "c1", { outcome })]));
const grant =
  (over: Partial<EventBodies["grant.created"]> = {}): Step =>
  async (_, { ledger }) =>
    void wonBy(await ledger.answer([grantedDraft("g_1", over)]));
const use: Step = async ({ session }, { ledger }) =>
  void wonBy(await ledger.answer([draftOf("grant.used", { grant: "g_1", session, call: "c1" })]));
const revoke: Step = async (_, { ledger }) => void wonBy(await ledger.answer([draftOf("grant.revoked", { grant: "g_1", by: "Tester" })]));
const claim =
  (over: Partial<EventBodies["call.claimed"]> = {}): Step =>
  async (writer, _, yes) => {
    const outcome = await writer.claim(claimedDraft("c1", { answer: yes ? { pos: yes.pos } : null, ...over }));
    assert.ok("won" in outcome);
    return undefined;
  };
const asked = append(proposedDraft("c1"), judgedDraft("c1", ASK));
const waits = append(...WAITS);
const byGrant = append(liftedDraft("c1", { kind: "grant", id: "g_1" }));
const byHook = append(liftedDraft("c1", { kind: "hook", id: "gate" }));
const edit = { edited: { input: { text: "edited" }, fingerprint: "edited" } };
const judgedAgain = (over: Partial<EventBodies["call.judged"]>): Step => append(judgedDraft("c1", { ...ASK, ...over }));

/** The claim names the newest consent; `over` changes the rest of it. */
type Row = readonly [
  id: string,
  title: string,
  steps: readonly Step[],
  over: Partial<EventBodies["call.claimed"]>,
  expected: "won" | ClaimLost,
];

const ROWS: readonly Row[] = [
  ["claim-none", "an unproposed call is not claimable", [], {}, "not_claimable"],
  ["claim-proposed", "a proposed call is not claimable", [append(proposedDraft("c1"))], {}, "not_claimable"],
  ["claim-allow", "a judged allow is claimable", [append(proposedDraft("c1"), judgedDraft("c1"))], {}, "won"],
  ["claim-ask", "a judged ask is not claimable", [asked], {}, "not_claimable"],
  ["claim-deny", "a deny is never claimable", [append(proposedDraft("c1"), judgedDraft("c1", { verdict: "deny" }))], {}, "not_claimable"],
  ["claim-waiting", "a waiting call is not claimable", [waits], {}, "not_claimable"],
  ["claim-loosened", "an allow changes nothing for what already waits", [waits, judgedAgain({ verdict: "allow" })], {}, "not_claimable"],
  ["claim-approved", "an approved call is claimable with its answer", [waits, answer()], {}, "won"],
  ["claim-unnamed", "an approved call is not claimable without naming its answer", [waits, answer()], { answer: null }, "not_claimable"],
  ["claim-other-answer", "an approved call is not claimable with another answer", [waits, answer()], { answer: { pos: 1 } }, "answer_void"],
  ["claim-rejected", "a rejection is not an answer to claim with", [waits, answer({ outcome: "rejected" })], {}, "answer_void"],
  ["claim-taken-back", "consent that was taken back is void", [waits, answer(), close("cancelled")], {}, "answer_void"],
  [
    "claim-other-fingerprint",
    "a claim with another fingerprint than answered is lost",
    [waits, answer()],
    { fingerprint: "another" },
    "fingerprint_mismatch",
  ],
  [
    "claim-allow-fingerprint",
    "a judged allow is claimable only as judged",
    [append(proposedDraft("c1"), judgedDraft("c1"))],
    { fingerprint: "another" },
    "fingerprint_mismatch",
  ],
  [
    "claim-edit-unjudged",
    "an edit is not claimable before it is judged",
    [waits, answer(edit)],
    { fingerprint: "edited" },
    "fingerprint_mismatch",
  ],
  ["claim-edit-shown", "what was shown is not claimable after an edit", [waits, answer(edit)], {}, "fingerprint_mismatch"],
  [
    "claim-edit",
    "an edit is claimable once it is judged",
    [waits, answer(edit), judgedAgain({ fingerprint: "edited" })],
    { fingerprint: "edited" },
    "won",
  ],
  [
    "claim-drifted",
    "consent does not cover what was judged after it",
    [waits, answer(), judgedAgain({ fingerprint: "drifted" })],
    { fingerprint: "drifted" },
    "fingerprint_mismatch",
  ],
  [
    "claim-after-policy-change",
    "a policy that changed since the judgement loses the claim",
    [waits, answer(), append(CHANGED)],
    {},
    "policy_changed",
  ],
  [
    "claim-allow-after-policy-change",
    "a changed policy loses the claim of an allow too",
    [append(proposedDraft("c1"), judgedDraft("c1"), CHANGED)],
    {},
    "policy_changed",
  ],
  [
    "claim-judged-again",
    "judged again under the changed policy, the consent still holds",
    [waits, answer(), append(CHANGED), judgedAgain({ policy: "policy-2" })],
    {},
    "won",
  ],
  [
    "claim-denied-since",
    "judged again as a deny, the consent no longer holds",
    [waits, answer(), append(CHANGED), judgedAgain({ verdict: "deny" })],
    {},
    "not_claimable",
  ],
  [
    "claim-closed-as-denied",
    "consent whose approval was closed as denied is void",
    [waits, answer(), append(CHANGED), judgedAgain({ verdict: "deny" }), close("denied"), judgedAgain({})],
    {},
    "answer_void",
  ],
  ["claim-hook", "a hook's consent is claimable", [asked, byHook], {}, "won"],
  [
    "claim-insisted",
    "a hook's consent is void once settings insist on a person",
    [asked, byHook, judgedAgain({ explicitAsk: true })],
    {},
    "answer_void",
  ],
  ["claim-grant", "a grant's consent is claimable", [grant(), asked, byGrant], {}, "won"],
  ["claim-last-use", "consent that took a grant's last use is claimable", [grant({ uses: 1 }), asked, use, byGrant], {}, "won"],
  ["claim-no-grant", "consent of a grant that is not there is void", [asked, byGrant], {}, "grant_revoked"],
  ["claim-revoked", "revoking a grant voids consent that was not claimed", [grant(), asked, byGrant, revoke], {}, "grant_revoked"],
  [
    "claim-expired-grant",
    "a grant that expired before the claim voids its consent",
    [grant({ expiresAt: "2020-01-01T00:00:00.000Z" }), asked, byGrant],
    {},
    "grant_revoked",
  ],
  [
    "claim-revoked-approval",
    "revoking a grant voids the consent it gave to an open approval",
    [grant(), waits, answer({ by: BY_GRANT }), revoke],
    {},
    "grant_revoked",
  ],
  ["claim-again", "a claimed call is not claimed again", [waits, answer(), claim()], {}, "already_claimed"],
  [
    "claim-retry",
    "one retry with the same key is claimable",
    [append(proposedDraft("c1"), judgedDraft("c1")), claim({ idempotencyKey: "key" })],
    { attempt: 2, idempotencyKey: "key" },
    "won",
  ],
  [
    "claim-retry-key",
    "a retry with another key is not",
    [append(proposedDraft("c1"), judgedDraft("c1")), claim({ idempotencyKey: "key" })],
    { attempt: 2, idempotencyKey: "other" },
    "already_claimed",
  ],
  [
    "claim-retry-keyless",
    "a retry without a key is not",
    [append(proposedDraft("c1"), judgedDraft("c1")), claim()],
    { attempt: 2 },
    "already_claimed",
  ],
  [
    "claim-retry-twice",
    "a second retry is not",
    [append(proposedDraft("c1"), judgedDraft("c1")), claim({ idempotencyKey: "key" }), claim({ attempt: 2, idempotencyKey: "key" })],
    { attempt: 3, idempotencyKey: "key" },
    "already_claimed",
  ],
];

function fromRow([id, title, steps, over, expected]: Row): LedgerCase {
  const run = async (bench: LedgerBench): Promise<void> => {
    const writer = await begin(bench);
    let yes: LedgerEvent | undefined;
    for (const step of steps) {
      const event = await step(writer, bench, yes);
      if (event?.type === "approval.answered" || event?.type === "call.answered") yes = event;
    }
    const named = yes === undefined ? null : { pos: yes.pos };
    const outcome = await writer.claim(claimedDraft("c1", { answer: named, ...over }));
    assert.equal("won" in outcome ? "won" : outcome.lost, expected);
  };
  return { id, title, run };
}

const RACES: readonly LedgerCase[] = [
  {
    id: "concurrent-claims",
    title: "of two claims at the same time, through two handles, one wins",
    run: async (bench) => {
      const writer = await begin(bench);
      await writer.append(proposedDraft("c1"), judgedDraft("c1"));
      const other = await bench.second();
      const outcomes = await Promise.allSettled(
        [bench.ledger, other].map((ledger) => ledger.claim(writer.lease, writer.head(), claimedDraft("c1"))),
      );
      const won = outcomes.filter((outcome) => outcome.status === "fulfilled" && "won" in outcome.value);
      assert.equal(won.length, 1);
      assert.deepEqual(await other.claim(writer.lease, writer.head() + 1, claimedDraft("c1")), { lost: "already_claimed" });
    },
  },
  {
    id: "claim-sequence",
    title: "a claim names the head it knows, like an append",
    run: async (bench) => {
      const writer = await begin(bench);
      await writer.append(proposedDraft("c1"), judgedDraft("c1"));
      await rejectsWith("sequence_conflict", bench.ledger.claim(writer.lease, 3, claimedDraft("c1")));
      const outcome = await bench.ledger.claim(writer.lease, 4, claimedDraft("c1"));
      assert.ok("won" in outcome && outcome.won.seq === 5 && outcome.won.session === writer.session);
    },
  },
  {
    id: "claim-one-answer",
    title: "calls of one session each claim with their own answer only",
    run: async (bench) => {
      const writer = await begin(bench);
      await writer.append(...WAITS, proposedDraft("c2"), judgedDraft("c2", ASK), openedDraft("c2"));
      const [yes] = wonBy(await bench.ledger.answer([answeredDraft(writer.session, "c1")]));
      const named = { answer: { pos: yes?.pos ?? 0 } };
      assert.deepEqual(await writer.claim(claimedDraft("c2", named)), { lost: "answer_void" });
      assert.ok("won" in (await writer.claim(claimedDraft("c1", named))));
    },
  },
];

/** When a claim may be stored; each way to fail is a row. */
export const CLAIMING_CASES: readonly LedgerCase[] = [...ROWS.map(fromRow), ...RACES];
