import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ApprovalRow, ClaimLost, QuestionRow, SharedDraft } from "../../src/ledger-port.ts";
import { type Call, next } from "../../src/model/call.ts";
import type { Draft, EventBodies, LedgerEvent } from "../../src/model/events.ts";
import { IllegalEvent } from "../../src/model/fold.ts";
import { nextGrantRow } from "../../src/model/grant-row.ts";
import {
  answerRefusal,
  approvalOf,
  type CallRow,
  type ClaimFacts,
  claimLoss,
  nextApprovalRow,
  nextCallRow,
  nextProposalRow,
  nextQuestionRow,
  proposalRefusal,
  questionRefusal,
} from "../../src/model/ledger-rules.ts";
import { OUTCOMES } from "../../src/model/outcome.ts";
import {
  answeredDraft,
  applyingDraft,
  askedDraft,
  claimedDraft,
  closedDraft,
  draftOf,
  endedDraft,
  fingerprintOf,
  grantedDraft,
  judgedDraft,
  liftedDraft,
  openedDraft,
  proposedDraft,
  repliedDraft,
  requestedDraft,
  stagedDraft,
  TESTER,
} from "../../testing/drafts.ts";

const NOW = "2026-06-01T00:00:00.000Z";
const EARLIER = "2026-05-31T00:00:00.000Z";
const LATER = "2026-06-02T00:00:00.000Z";

function placed(drafts: readonly Draft[]): readonly LedgerEvent[] {
  return drafts.map((draft, at) => ({ ...draft, session: "s_1", seq: at + 1, pos: at + 10, epoch: 1 }) as LedgerEvent);
}

function rowAfter(...drafts: readonly Draft[]): CallRow | undefined {
  return placed(drafts).reduce<CallRow | undefined>(nextCallRow, undefined);
}

function approvalAfter(...drafts: readonly Draft[]): ApprovalRow {
  const row = placed(drafts).reduce<ApprovalRow | undefined>(nextApprovalRow, undefined);
  assert.ok(row);
  return row;
}

const proposed = proposedDraft("c1");
const allow = judgedDraft("c1");
const ask = judgedDraft("c1", { verdict: "ask" });
const deny = judgedDraft("c1", { verdict: "deny" });
const insist = judgedDraft("c1", { verdict: "ask", explicitAsk: true });
const opened = openedDraft("c1");
const yes = answeredDraft("s_1", "c1");
const no = answeredDraft("s_1", "c1", { outcome: "rejected" });
const cancelled = closedDraft("s_1", "c1");
const hook = liftedDraft("c1", { kind: "hook", id: "gate" });
const grant = liftedDraft("c1", { kind: "grant", id: "g_1" });
const claimed = claimedDraft("c1");
const keyed = claimedDraft("c1", { idempotencyKey: "key" });
const started = draftOf("call.started", { call: "c1", pid: 1, pgid: 1, processStart: "0" });

const REACH: Readonly<Record<CallRow["state"], readonly Draft[]>> = {
  proposed: [proposed],
  judged: [proposed, ask],
  waiting: [proposed, ask, opened],
  approved: [proposed, ask, opened, yes],
  claimed: [proposed, allow, claimed],
};

const ROWS: readonly (readonly [string, readonly Draft[], CallRow["state"] | "ended" | "illegal"])[] = [
  ["a proposal begins a call", [proposed], "proposed"],
  ["a call is proposed once", [proposed, proposed], "illegal"],
  ["nothing but a proposal begins a call", [allow], "illegal"],
  ["a judgement follows", [proposed, ask], "judged"],
  ["an ask opens an approval", [proposed, ask, opened], "waiting"],
  ["an allow opens none", [proposed, allow, opened], "illegal"],
  ["a deny opens none", [proposed, deny, opened], "illegal"],
  ["an approval shows what was judged", [proposed, ask, openedDraft("c1", { fingerprint: "other" })], "illegal"],
  ["consent approves", [proposed, ask, opened, yes], "approved"],
  ["a rejection leaves it waiting", [proposed, ask, opened, no], "waiting"],
  ["a close after consent takes it back", [proposed, ask, opened, yes, cancelled], "waiting"],
  ["another approval's answer is none of its", [proposed, ask, opened, answeredDraft("s_1", "c1", { approval: "a_2" })], "illegal"],
  ["a call has one approval, open again or not", [proposed, ask, opened, openedDraft("c1", { approval: "a_2", revision: 2 })], "illegal"],
  ["an approval opens again after consent", [proposed, ask, opened, yes, openedDraft("c1", { revision: 2 })], "waiting"],
  ["a hook's consent approves", [proposed, ask, hook], "approved"],
  ["a hook's consent lifts no insisting ask", [proposed, insist, hook], "illegal"],
  ["a hook's consent lifts no deny", [proposed, deny, hook], "illegal"],
  ["a hook's consent is for what was judged", [proposed, judgedDraft("c1", { verdict: "ask", fingerprint: "other" }), hook], "illegal"],
  ["a waiting call is answered through its approval only", [proposed, ask, opened, hook], "illegal"],
  ["judged again, it stays where it is", [proposed, ask, opened, yes, ask], "approved"],
  ["a claim follows a judged allow", [proposed, allow, claimed], "claimed"],
  ["a claim does not follow a proposal", [proposed, claimed], "illegal"],
  ["a process start changes nothing", [proposed, allow, claimed, started], "claimed"],
  ["a process start needs a claim", [proposed, allow, started], "illegal"],
  ["a claimed call is judged no more", [proposed, allow, claimed, allow], "illegal"],
  ["a second claim without a key is illegal", [proposed, allow, claimed, claimedDraft("c1", { attempt: 2 })], "illegal"],
  ["a keyed retry is legal once", [proposed, allow, keyed, claimedDraft("c1", { attempt: 2, idempotencyKey: "key" })], "claimed"],
  ["an end ends it", [proposed, allow, claimed, endedDraft("c1")], "ended"],
  ["nothing follows an end", [proposed, allow, claimed, endedDraft("c1"), endedDraft("c1")], "illegal"],
];

for (const [title, drafts, expected] of ROWS) {
  test(`row of a call: ${title}`, () => {
    if (expected === "illegal") {
      rowAfter(...drafts.slice(0, -1));
      assert.throws(() => rowAfter(...drafts), IllegalEvent);
    } else {
      assert.equal(rowAfter(...drafts)?.state ?? "ended", expected);
    }
  });
}

test("a stored row ends exactly as the call's life allows it", () => {
  for (const [state, drafts] of Object.entries(REACH)) {
    const call = placed(drafts).reduce<Call | undefined>((before, event) => next(before, event), undefined);
    assert.equal(call?.state, state);
    for (const outcome of OUTCOMES) {
      const end = [...drafts, endedDraft("c1", { outcome })];
      const legal = next(call, placed(end).at(-1)!) !== undefined;
      if (legal) assert.equal(rowAfter(...end), undefined, `${state} ends ${outcome}`);
      else assert.throws(() => rowAfter(...end), IllegalEvent, `${state} does not end ${outcome}`);
    }
  }
});

const POOL: readonly Draft[] = [
  proposed,
  allow,
  ask,
  deny,
  insist,
  judgedDraft("c1", { verdict: "ask", fingerprint: "edited" }),
  opened,
  openedDraft("c1", { revision: 2 }),
  openedDraft("c1", { revision: 3, fingerprint: "edited" }),
  yes,
  no,
  answeredDraft("s_1", "c1", { revision: 2 }),
  answeredDraft("s_1", "c1", { edited: { input: {}, fingerprint: "edited" } }),
  answeredDraft("s_1", "c1", { by: { ...TESTER, kind: "grant", name: "g_1" } }),
  cancelled,
  closedDraft("s_1", "c1", { outcome: "denied" }),
  closedDraft("s_1", "c1", { outcome: "expired" }),
  hook,
  grant,
  started,
  claimed,
  keyed,
  claimedDraft("c1", { attempt: 2, idempotencyKey: "key" }),
  claimedDraft("c1", { fingerprint: "edited" }),
  ...OUTCOMES.map((outcome) => endedDraft("c1", { outcome })),
];

type Rows = { readonly call: CallRow | undefined; readonly approval: ApprovalRow | undefined };
const NO_ROWS: Rows = { call: undefined, approval: undefined };

function answerOf(call: CallRow | undefined): { readonly pos: number } | null {
  if (call?.state === "approved") return { pos: call.consent.pos };
  return call?.state === "claimed" ? call.answer : null;
}

/** The call with a changed newest judgement. */
function rejudged(call: CallRow | undefined, change: Partial<Extract<CallRow, { state: "approved" }>["judged"]>): CallRow {
  assert.ok(call?.state === "approved");
  return { ...call, judged: { ...call.judged, ...change } };
}

/** The rows after a ledger stored one event; undefined if it refused. */
function stored({ call, approval }: Rows, event: LedgerEvent): Rows | undefined {
  if (event.type === "call.claimed") {
    const named = { ...event.body, answer: answerOf(call) };
    const granted = nextGrantRow(undefined, placed([grantedDraft("g_1")])[0]!);
    if (claimLoss(named, { call, approval, grant: granted, policySeq: 0, now: NOW, durable: true }) !== undefined) return undefined;
  }
  if (answerRefusal(approval, event as SharedDraft, NOW) !== undefined) return undefined;
  try {
    const id = approvalOf(event, call);
    return { call: nextCallRow(call, event), approval: id === undefined ? approval : nextApprovalRow(approval, event) };
  } catch (error) {
    assert.ok(error instanceof IllegalEvent);
    return undefined;
  }
}

/** Applies events to rows and fold, and returns the states both went through. */
function lived(picks: readonly number[]): readonly string[] {
  const states: string[] = [];
  let rows = NO_ROWS;
  let call: Call | undefined;
  for (const [at, pick] of picks.entries()) {
    const event = { ...POOL[pick]!, session: "s_1", seq: at + 1, pos: at + 1, epoch: 1 } as LedgerEvent;
    const after = stored(rows, event);
    if (!after) continue;
    const folded = next(call, event);
    assert.ok(folded, `${event.type} was stored in state ${call?.state}`);
    assert.equal(after.call?.state ?? "ended", folded.state);
    states.push(folded.state);
    const isOver = folded.state === "ended";
    call = isOver ? undefined : folded;
    rows = isOver ? NO_ROWS : after;
  }
  return states;
}

test("law: the fold can read everything a ledger stores, and both see the call in one state", () => {
  const seen = new Set<string>();
  const picks = fc.array(fc.nat(POOL.length - 1), { minLength: 100, maxLength: 300 });
  fc.assert(
    fc.property(picks, (sequence) => {
      for (const state of lived(sequence)) seen.add(state);
    }),
  );
  assert.deepEqual([...seen].sort(), ["approved", "claimed", "ended", "judged", "proposed", "waiting"]);
});

const allowed = rowAfter(proposed, allow);
const approved = rowAfter(proposed, ask, opened, yes);
const lifted = rowAfter(proposed, ask, grant);
const bare = rowAfter(proposed, judgedDraft("c1", { fingerprint: undefined as never }));
const answered = approvalAfter(opened, yes);
const held = nextGrantRow(undefined, placed([grantedDraft("g_1")])[0]!);
const YES = { answer: { pos: 13 } };
const LIFTED = { answer: { pos: 12 } };
const NONE: ClaimFacts = { call: undefined, approval: undefined, grant: undefined, policySeq: 0, now: NOW, durable: true };

type ClaimRow = readonly [string, Partial<EventBodies["call.claimed"]>, Partial<ClaimFacts>, ClaimLost | undefined];

const CLAIMS: readonly ClaimRow[] = [
  ["no row: not claimable", {}, {}, "not_claimable"],
  ["an allow wins", {}, { call: allowed }, undefined],
  ["an allow with a made-up answer is void", YES, { call: allowed }, "answer_void"],
  ["an allow judged before the policy changed loses", {}, { call: allowed, policySeq: 3 }, "policy_changed"],
  ["an allow judged after the policy changed wins", {}, { call: allowed, policySeq: 1 }, undefined],
  ["an allow with another fingerprint loses", { fingerprint: "other" }, { call: allowed }, "fingerprint_mismatch"],
  ["a first claim is attempt 1", { attempt: 2, idempotencyKey: "key" }, { call: allowed }, "not_claimable"],
  ["without any fingerprint a durable ledger refuses", { fingerprint: undefined as never }, { call: bare }, "fingerprint_mismatch"],
  ["without any fingerprint memory allows", { fingerprint: undefined as never }, { call: bare, durable: false }, undefined],
  ["a fingerprint that was not judged loses in memory too", {}, { call: bare, durable: false }, "fingerprint_mismatch"],
  ["consent wins", YES, { call: approved, approval: answered }, undefined],
  ["consent without its approval is void", YES, { call: approved }, "answer_void"],
  ["consent is consumed once", YES, { call: approved, approval: { ...answered, consumed: true } }, "answer_consumed"],
  ["consent whose approval closed is void", YES, { call: approved, approval: { ...answered, state: "denied" } }, "answer_void"],
  [
    "consent that covers something else loses",
    YES,
    { call: rejudged(approved, { fingerprint: "other" }), approval: answered },
    "fingerprint_mismatch",
  ],
  [
    "consent that covers something else loses, although the claim is for what was judged last",
    { ...YES, fingerprint: "other" },
    { call: rejudged(approved, { fingerprint: "other" }), approval: answered },
    "fingerprint_mismatch",
  ],
  ["a grant's consent wins", LIFTED, { call: lifted, grant: held }, undefined],
  ["a grant that is gone voids its consent", LIFTED, { call: lifted }, "grant_revoked"],
  ["a revoked grant voids its consent", LIFTED, { call: lifted, grant: { ...held, state: "revoked" } }, "grant_revoked"],
  ["an expired grant voids its consent", LIFTED, { call: lifted, grant: { ...held, expiresAt: NOW } }, "grant_revoked"],
  ["a grant that expires later does not", LIFTED, { call: lifted, grant: { ...held, expiresAt: LATER } }, undefined],
  ["a used-up grant keeps the consent of its last use", LIFTED, { call: lifted, grant: { ...held, state: "used_up" } }, undefined],
  ["an insisting ask voids a grant's consent", LIFTED, { call: rejudged(lifted, { explicitAsk: true }), grant: held }, "answer_void"],
  ["an insisting ask leaves a person's yes", YES, { call: rejudged(approved, { explicitAsk: true }), approval: answered }, undefined],
  ["a deny judged last is not claimable", YES, { call: rejudged(approved, { verdict: "deny" }), approval: answered }, "not_claimable"],
  ["a claimed call is already claimed", {}, { call: rowAfter(proposed, allow, claimed) }, "already_claimed"],
  ["a keyed retry of an allow wins", { attempt: 2, idempotencyKey: "key" }, { call: rowAfter(proposed, allow, keyed) }, undefined],
  [
    "a keyed retry goes by the answer that was consumed",
    { ...YES, attempt: 2, idempotencyKey: "key" },
    { call: rowAfter(proposed, ask, opened, yes, keyed), approval: { ...answered, consumed: true } },
    undefined,
  ],
  [
    "a keyed retry needs its answer named",
    { attempt: 2, idempotencyKey: "key" },
    { call: rowAfter(proposed, ask, opened, yes, keyed), approval: { ...answered, consumed: true } },
    "not_claimable",
  ],
  [
    "a keyed retry with another fingerprint loses",
    { attempt: 2, idempotencyKey: "key", fingerprint: "other" },
    { call: rowAfter(proposed, allow, keyed) },
    "fingerprint_mismatch",
  ],
];

for (const [title, over, facts, expected] of CLAIMS) {
  test(`claim: ${title}`, () => assert.equal(claimLoss(claimedDraft("c1", over).body, { ...NONE, ...facts }), expected));
}

const open = approvalAfter(opened);
const deadline = approvalAfter(openedDraft("c1", { expiresAt: NOW }));

type RefusalRow = readonly [string, ApprovalRow | undefined, SharedDraft, ReturnType<typeof answerRefusal>];

const REFUSALS: readonly RefusalRow[] = [
  ["no approval", undefined, yes, "unknown_approval"],
  ["an approval of another session", { ...open, session: "s_2" }, yes, "unknown_approval"],
  ["an approval of another call", { ...open, call: "c2" }, yes, "unknown_approval"],
  ["consent to an open one", open, yes, undefined],
  ["a rejection of an open one", open, no, undefined],
  ["a close of an open one", open, cancelled, undefined],
  ["consent to another revision", open, answeredDraft("s_1", "c1", { revision: 2 }), "stale_revision"],
  ["consent to another fingerprint", open, answeredDraft("s_1", "c1", { fingerprint: "other" }), "stale_revision"],
  ["a close of another revision", open, closedDraft("s_1", "c1", { revision: 2 }), "stale_revision"],
  ["consent to an answered one", approvalAfter(opened, no), yes, "too_late"],
  ["a stale answer to an answered one", answered, answeredDraft("s_1", "c1", { revision: 2 }), "too_late"],
  ["consent to a closed one", approvalAfter(opened, cancelled), yes, "too_late"],
  ["a cancel after consent", answered, cancelled, undefined],
  ["a policy's deny after consent", answered, closedDraft("s_1", "c1", { outcome: "denied" }), undefined],
  ["a cancel of another revision after consent", answered, closedDraft("s_1", "c1", { revision: 2 }), "stale_revision"],
  ["an expiry after consent", answered, closedDraft("s_1", "c1", { outcome: "expired" }), "too_late"],
  ["a cancel after a rejection", approvalAfter(opened, no), cancelled, "too_late"],
  ["a cancel after the claim", approvalAfter(opened, yes, claimed), cancelled, "too_late"],
  ["a second close", approvalAfter(opened, yes, cancelled), cancelled, "too_late"],
  ["consent at the deadline", deadline, yes, "too_late"],
  ["a rejection at the deadline", deadline, no, undefined],
  ["an expiry at the deadline", deadline, closedDraft("s_1", "c1", { outcome: "expired" }), undefined],
  ["consent before the deadline", { ...deadline, expiresAt: LATER }, yes, undefined],
  ["a grant's event", undefined, grantedDraft("g_1"), undefined],
];

for (const [title, row, event, expected] of REFUSALS) {
  test(`may be stored: ${title}: ${expected ?? "yes"}`, () => assert.equal(answerRefusal(row, event, NOW), expected));
}

test("an approval opens again only with a higher revision, and then nothing of the old answer is left", () => {
  const again = approvalAfter(opened, yes, openedDraft("c1", { revision: 2, fingerprint: "other" }));
  assert.deepEqual([again.state, again.revision, again.fingerprint, again.covers, again.answeredBy], ["open", 2, "other", null, null]);
  for (const draft of [opened, openedDraft("c1", { revision: 2, call: "c2" })])
    assert.throws(() => approvalAfter(opened, draft), IllegalEvent);
  assert.throws(() => approvalAfter(opened, yes, claimed, openedDraft("c1", { revision: 2 })), IllegalEvent);
});

test("an approval that opens again is still as old as it was", () => {
  const again = approvalAfter({ ...opened, at: EARLIER }, { ...openedDraft("c1", { revision: 2 }), at: LATER });
  assert.equal(again.requestedAt, EARLIER);
});

test("consent covers what was shown, or its edit; a rejection covers nothing", () => {
  assert.equal(answered.covers, fingerprintOf("c1"));
  const edited = answeredDraft("s_1", "c1", { edited: { input: {}, fingerprint: "edited" } });
  assert.equal(approvalAfter(opened, edited).covers, "edited");
  assert.equal(approvalAfter(opened, no).covers, null);
});

test("a grant cannot answer an insisting ask", () => {
  const byGrant = answeredDraft("s_1", "c1", { by: { ...TESTER, kind: "grant", name: "g_1" } });
  assert.equal(approvalAfter(opened, byGrant).state, "approved");
  assert.throws(() => approvalAfter(openedDraft("c1", { explicitAsk: true }), byGrant), IllegalEvent);
});

test("an event that concerns no approval, or one that is not there, is illegal for it", () => {
  assert.throws(() => approvalAfter(yes), IllegalEvent);
  assert.throws(() => approvalAfter(opened, ask), IllegalEvent);
});

const ENDINGS: readonly (readonly [string, readonly Draft[], ApprovalRow["state"]])[] = [
  ["an open one closes with its call", [opened, endedDraft("c1", { outcome: "cancelled" })], "cancelled"],
  ["an open one closes as its call was denied", [opened, endedDraft("c1", { outcome: "denied" })], "denied"],
  ["an open one closes as its call expired", [opened, endedDraft("c1", { outcome: "expired" })], "expired"],
  ["an open one whose call ends in any other way is cancelled", [opened, endedDraft("c1", { outcome: "invalid" })], "cancelled"],
  ["an unused yes is void when its call ends", [opened, yes, endedDraft("c1", { outcome: "cancelled" })], "cancelled"],
  ["used consent stays", [opened, yes, claimed, endedDraft("c1")], "approved"],
  ["a rejection stays", [opened, no, endedDraft("c1", { outcome: "rejected" })], "rejected"],
];

for (const [title, drafts, expected] of ENDINGS) {
  test(`approval: ${title}`, () => assert.equal(approvalAfter(...drafts).state, expected));
}

test("an event changes its own approval, or that of the call whose claim or end it is", () => {
  const [, , , , event] = placed([proposed, ask, opened, yes, claimed]);
  assert.equal(approvalOf(event!, approved), "a_c1");
  assert.equal(approvalOf(event!, allowed), undefined);
  assert.equal(approvalOf(placed([opened])[0]!, undefined), "a_c1");
  assert.equal(approvalOf(placed([endedDraft("c1")])[0]!, approved), "a_c1");
  assert.equal(approvalOf(placed([ask])[0]!, approved), undefined);
});

function placedOne<T extends Draft>(draft: T): LedgerEvent {
  const [event] = placed([draft]);
  assert.ok(event);
  return event;
}

test("a proposal's row follows its events, and an illegal one says in which state it came", () => {
  const staged = nextProposalRow(undefined, placedOne(stagedDraft("p_1")));
  assert.equal(nextProposalRow(staged, placedOne(applyingDraft("p_1"))).state, "applying");
  const illegal: readonly (readonly [Parameters<typeof nextProposalRow>[0], Draft, string])[] = [
    [undefined, applyingDraft("p_1"), "none"],
    [staged, stagedDraft("p_1"), "staged"],
    [staged, endedDraft("c1"), "staged"],
  ];
  for (const [row, draft, state] of illegal)
    assert.throws(
      () => nextProposalRow(row, placedOne(draft)),
      (error) => error instanceof IllegalEvent && error.state === state && error.type === draft.type,
    );
});

const stagedProposal = nextProposalRow(undefined, placedOne(stagedDraft("p_1")));
const settledProposal = nextProposalRow(
  stagedProposal,
  placedOne(draftOf("proposal.stale", { proposal: "p_1", cause: "lost", files: [] })),
);

const REQUESTS: readonly (readonly [string, Parameters<typeof proposalRefusal>, ReturnType<typeof proposalRefusal>])[] = [
  ["a request for a staged proposal is stored", [stagedProposal, requestedDraft("s_1", "p_1")], undefined],
  ["a request for a settled one, too", [settledProposal, requestedDraft("s_1", "p_1", { action: "undo" })], undefined],
  ["a request for none is not", [undefined, requestedDraft("s_1", "p_1")], "proposal_not_found"],
  ["a request for another session's is not", [stagedProposal, requestedDraft("s_2", "p_1")], "proposal_not_found"],
  ["a request for another content is not", [stagedProposal, requestedDraft("s_1", "p_1", { digest: "other" })], "stale_revision"],
  ["an answer to an approval is not a request", [undefined, answeredDraft("s_1", "c1")], undefined],
];
for (const [sentence, args, expected] of REQUESTS) test(sentence, () => assert.equal(proposalRefusal(...args), expected));

const running = rowAfter(proposed, allow, claimedDraft("c1"));
const askedNow = nextQuestionRow(undefined, placedOne(askedDraft("q_1", "c1")), running);
const answeredNow = nextQuestionRow(askedNow, placedOne(repliedDraft("s_1", "q_1")), undefined);

const QUESTION_ROWS: readonly (readonly [string, Parameters<typeof nextQuestionRow>, QuestionRow["state"] | undefined])[] = [
  ["a call that runs asks", [undefined, placedOne(askedDraft("q_1", "c1")), running], "open"],
  ["a call that does not run yet may not ask", [undefined, placedOne(askedDraft("q_1", "c1")), rowAfter(proposed, allow)], undefined],
  ["a call that has ended may not ask", [undefined, placedOne(askedDraft("q_1", "c1")), undefined], undefined],
  ["a question is asked once", [askedNow, placedOne(askedDraft("q_1", "c1")), running], undefined],
  ["an answer ends it", [askedNow, placedOne(repliedDraft("s_1", "q_1", { outcome: "declined" })), undefined], "declined"],
  ["a second answer is illegal", [answeredNow, placedOne(repliedDraft("s_1", "q_1")), undefined], undefined],
  ["an answer to nothing is illegal", [undefined, placedOne(repliedDraft("s_1", "q_1")), undefined], undefined],
  ["an answer that names another session is illegal", [askedNow, placedOne(repliedDraft("s_2", "q_1")), undefined], undefined],
  ["the end of its call cancels it", [askedNow, placedOne(endedDraft("c1")), undefined], "cancelled"],
  ["the end of its call leaves an answer as it is", [answeredNow, placedOne(endedDraft("c1")), undefined], "answered"],
  ["no other event concerns it", [askedNow, placedOne(proposed), undefined], undefined],
];
for (const [sentence, args, state] of QUESTION_ROWS) {
  test(sentence, () => {
    if (state === undefined) assert.throws(() => nextQuestionRow(...args), IllegalEvent);
    else assert.equal(nextQuestionRow(...args).state, state);
  });
}

const cancelledNow = nextQuestionRow(askedNow, placedOne(endedDraft("c1")), undefined);
const REPLIES: readonly (readonly [string, Parameters<typeof questionRefusal>, ReturnType<typeof questionRefusal>])[] = [
  ["an answer to an open question is stored", [askedNow, repliedDraft("s_1", "q_1")], undefined],
  ["an answer to one that has its answer meets it", [answeredNow, repliedDraft("s_1", "q_1")], "too_late"],
  ["an answer to one whose call ended meets that", [cancelledNow, repliedDraft("s_1", "q_1")], "too_late"],
  ["an answer to no question is refused", [undefined, repliedDraft("s_1", "q_1")], "unknown_approval"],
  ["an answer to another session's question is refused", [askedNow, repliedDraft("s_2", "q_1")], "unknown_approval"],
  ["an answer to an approval is none to a question", [undefined, answeredDraft("s_1", "c1")], undefined],
];
for (const [sentence, args, expected] of REPLIES) test(sentence, () => assert.equal(questionRefusal(...args), expected));
