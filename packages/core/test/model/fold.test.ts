import assert from "node:assert/strict";
import { test } from "node:test";
import {
  answeredDraft,
  applyingDraft,
  askedDraft,
  claimedDraft,
  closedDraft,
  closedSessionDraft,
  createdDraft,
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
} from "@assent/core/testing";
import fc from "fast-check";
import { type Draft, type LedgerEvent, SHARED } from "../../src/model/events.ts";
import { emptySession, fold, IllegalEvent, type SessionState } from "../../src/model/fold.ts";
import { isAnswerable } from "../../src/model/known-event.ts";
import { fromSnapshot, toSnapshot } from "../../src/model/snapshot.ts";

const SESSION = "s_1";

/** Drafts as a store would number them, each in its own chain. */
function placed(drafts: readonly Draft[]): readonly LedgerEvent[] {
  const seqs = new Map<string, number>();
  return drafts.map((draft, index) => {
    const session = isAnswerable(draft.type) ? SHARED : SESSION;
    const seq = (seqs.get(session) ?? 0) + 1;
    seqs.set(session, seq);
    return { ...draft, session, seq, pos: index + 1, epoch: 1 } as LedgerEvent;
  });
}

function folded(drafts: readonly Draft[], state: SessionState = emptySession()): SessionState {
  for (const event of placed(drafts)) fold(state, event);
  return state;
}

const ask = { verdict: "ask" } as const;
const waiting = [createdDraft(), proposedDraft("c"), judgedDraft("c", ask), openedDraft("c")];
const approved = [...waiting, answeredDraft(SESSION, "c")];
const claimed = [createdDraft(), proposedDraft("c"), judgedDraft("c"), claimedDraft("c")];

type StateRow = readonly [name: string, drafts: readonly Draft[], state: string | undefined];

const states: readonly StateRow[] = [
  ["a proposed call", [createdDraft(), proposedDraft("c")], "proposed"],
  ["a judged call", [createdDraft(), proposedDraft("c"), judgedDraft("c")], "judged"],
  ["an asked call", waiting, "waiting"],
  ["consent of any process approves at once", approved, "approved"],
  [
    "a rejection leaves the call waiting until its end is recorded",
    [...waiting, answeredDraft(SESSION, "c", { outcome: "rejected" })],
    "waiting",
  ],
  ["a grant's consent", [...waiting.slice(0, 3), liftedDraft("c", { kind: "grant", id: "g_1" })], "approved"],
  ["consent taken back", [...approved, closedDraft(SESSION, "c", { outcome: "denied" })], "waiting"],
  ["a claimed call", claimed, "claimed"],
  ["an ended call is open no more", [...claimed, endedDraft("c")], undefined],
];
for (const [name, drafts, state] of states) {
  test(`${name} is ${state ?? "gone from what is open"}`, () => {
    assert.equal(folded(drafts).calls.get("c")?.state, state);
  });
}

test("a session knows how it began, how it is set and whether it is closed", () => {
  const begun = folded([createdDraft({ mode: "plan", model: "m1", policy: "p1" })]);
  assert.deepEqual([begun.mode, begun.model, begun.policy], ["plan", "m1", "p1"]);
  const state = folded([
    createdDraft({ mode: "plan", model: "m1", policy: "p1" }),
    draftOf("mode.changed", { from: "plan", to: "default", by: "T" }),
    draftOf("model.changed", { from: "m1", to: "m2", by: "T" }),
    draftOf("policy.changed", { revision: "p2", digest: "d" }),
    closedSessionDraft("parked"),
  ]);
  assert.deepEqual([state.mode, state.model, state.policy, state.closed?.reason], ["default", "m2", "p2", "parked"]);
  assert.deepEqual([state.seq, state.shared], [5, 0]);
  const opened = draftOf("session.opened", { pid: 1, host: "h", processStart: "s", door: "d", recovered: [] });
  fold(state, { ...opened, session: SESSION, seq: 6, pos: 6, epoch: 1 });
  assert.equal(state.closed, undefined);
});

test("every id that was given is remembered after its call has ended", () => {
  const again = proposedDraft("c#2", { givenId: "c" });
  const state = folded([...claimed, endedDraft("c"), again]);
  assert.deepEqual([...state.ids.keys()].sort(), ["c", "c#2"]);
});

type MemoryRow = readonly [name: string, drafts: readonly Draft[], unknown: number, rejected: number];

const unknownEnd = endedDraft("c", { outcome: "unknown", type: "execution_unknown" });
const sameAgain = [
  proposedDraft("d"),
  judgedDraft("d", { ...ask, fingerprint: fingerprintOf("c") }),
  openedDraft("d", { fingerprint: fingerprintOf("c") }),
];
const memory: readonly MemoryRow[] = [
  ["an unsafe call that ended unknown", [...claimed, unknownEnd], 1, 0],
  [
    "a safe call that ended unknown is not",
    [...claimed.slice(0, 2), judgedDraft("c", { safe: true }), claimedDraft("c"), unknownEnd],
    0,
    0,
  ],
  [
    "a person's yes to the same request clears it",
    [...claimed, unknownEnd, ...sameAgain, answeredDraft(SESSION, "d", { fingerprint: fingerprintOf("c") })],
    0,
    0,
  ],
  [
    "a person's no clears it, too",
    [...claimed, unknownEnd, ...sameAgain, answeredDraft(SESSION, "d", { fingerprint: fingerprintOf("c"), outcome: "rejected" })],
    0,
    1,
  ],
  [
    "a grant's consent does not",
    [
      ...claimed,
      unknownEnd,
      ...sameAgain,
      answeredDraft(SESSION, "d", { fingerprint: fingerprintOf("c"), by: { ...TESTER, kind: "grant" } }),
    ],
    1,
    0,
  ],
  ["a rejected request", [...waiting, answeredDraft(SESSION, "c", { outcome: "rejected" })], 0, 1],
  ["an expired one is not", [...waiting, closedDraft(SESSION, "c", { outcome: "expired" })], 0, 0],
  ["a call that failed", [...claimed, endedDraft("c", { outcome: "failed", type: "execution_failed" })], 0, 0],
];
for (const [name, drafts, unknown, rejected] of memory) {
  test(`${name} is remembered: ${unknown} unknown, ${rejected} rejected`, () => {
    const state = folded(drafts);
    assert.deepEqual([state.unknown.size, state.rejected.size], [unknown, rejected]);
  });
}

const applied = (proposal: string): Draft => draftOf("proposal.applied", { proposal, superseded: [] });
const stale = (proposal: string, cause: "changed" | "lost"): Draft => draftOf("proposal.stale", { proposal, cause, files: [] });
const discarded = (proposal: string): Draft =>
  draftOf("proposal.discarded", { proposal, resolution: { action: "discard", by: "model", reason: "", at: "" } });
const undone = draftOf("proposal.undone", { proposal: "p_1", by: TESTER, reason: null });
const refused = draftOf("proposal.refused", { proposal: "p_1", action: "apply", type: "denied_by_rule", message: "no" });
const undoing = draftOf("proposal.undoing", { proposal: "p_1", by: TESTER });
const parked = draftOf("proposal.parked", { proposal: "p_1", why: "unheeded" });
const reminded = draftOf("proposal.reminded", { proposal: "p_1", turn: 1 });
const unheeded = draftOf("proposal.unheeded", { proposal: "p_1", turn: 1 });
const asking = [...claimed, askedDraft("q_1", "c")];

type ProposalRow = readonly [name: string, drafts: readonly Draft[], open: readonly string[], lost: string | undefined];

const proposals: readonly ProposalRow[] = [
  ["what is staged waits, oldest first", [stagedDraft("p_2"), stagedDraft("p_1")], ["p_2", "p_1"], undefined],
  ["what is being applied waits", [stagedDraft("p_1"), applyingDraft("p_1")], ["p_1"], undefined],
  ["what was applied does not", [stagedDraft("p_1"), applyingDraft("p_1"), applied("p_1")], [], undefined],
  ["what was discarded does not", [stagedDraft("p_1"), stagedDraft("p_2"), discarded("p_1")], ["p_2"], undefined],
  ["an undo changes nothing that waits", [stagedDraft("p_1"), applyingDraft("p_1"), applied("p_1"), undoing, undone], [], undefined],
  ["a request for what is settled changes nothing", [stagedDraft("p_1"), discarded("p_1"), requestedDraft(SESSION, "p_1")], [], undefined],
  ["a refusal of what is settled changes nothing", [stagedDraft("p_1"), discarded("p_1"), refused], [], undefined],
  ["the model's leader marks what is settled in vain", [stagedDraft("p_1"), discarded("p_1"), reminded, unheeded, parked], [], undefined],
  ["the newest one that was lost is remembered", [stagedDraft("p_1"), stale("p_1", "lost")], [], "p_1"],
  ["until another is staged", [stagedDraft("p_1"), stale("p_1", "lost"), stagedDraft("p_2")], ["p_2"], undefined],
  ["a stale one was not lost", [stagedDraft("p_1"), stale("p_1", "changed")], [], undefined],
];
for (const [name, drafts, open, lost] of proposals) {
  test(`of proposals, ${name}`, () => {
    const state = folded([createdDraft(), ...drafts]);
    assert.deepEqual([[...state.proposals.keys()], state.lost?.id], [open, lost]);
  });
}

test("what a person wants done with a proposal waits with it until the holder's own record", () => {
  const wished = [createdDraft(), stagedDraft("p_1"), requestedDraft(SESSION, "p_1")];
  assert.deepEqual(folded(wished).proposals.get("p_1")?.requested, { action: "apply", pos: 3 });
  const failed = draftOf("proposal.apply_failed", { proposal: "p_1", type: "proposal_apply_failed", message: "no" });
  assert.equal(folded([...wished, applyingDraft("p_1"), failed]).proposals.get("p_1")?.requested, null);
  assert.equal(folded([...wished, refused]).proposals.get("p_1")?.requested, null);
});

test("a question waits until its call ends, and knows its answer", () => {
  assert.equal(folded(asking).questions.get("q_1")?.state, "open");
  assert.equal(folded([...asking, repliedDraft(SESSION, "q_1")]).questions.get("q_1")?.state, "answered");
  assert.equal(folded([...asking, repliedDraft(SESSION, "q_1"), endedDraft("c")]).questions.size, 0);
  assert.equal(folded([...asking, endedDraft("c", { outcome: "cancelled" })]).questions.size, 0);
});

test("notices wait, oldest first, until they are delivered or dropped", () => {
  const queued = (notice: string): Draft => draftOf("notice.queued", { notice, kind: "task", modelText: notice, displayText: notice });
  const state = folded([
    createdDraft(),
    ...["n_1", "n_2", "n_3", "n_4"].map(queued),
    draftOf("notice.delivered", { ids: ["n_2"], turn: 1 }),
    draftOf("notice.dropped", { ids: ["n_3"], why: "undone" }),
  ]);
  assert.deepEqual([...state.notices.keys()], ["n_1", "n_4"]);
});

test("a turn is open from its beginning to its end, and a user's message forgets what was rejected before", () => {
  const started = draftOf("turn.started", { turn: 2, origin: "user", promptId: "p", model: null, toolChoice: null });
  const state = folded([...waiting, answeredDraft(SESSION, "c", { outcome: "rejected" }), started]);
  assert.deepEqual([state.turn, state.openTurn, state.rejected.size], [2, 2, 1]);
  const message = (origin: "user" | "steering"): Draft => draftOf("message.user", { turn: 2, content: "go on", origin });
  const [, , , , , , steered, said, ended] = placed([
    ...waiting,
    answeredDraft(SESSION, "c", { outcome: "rejected" }),
    started,
    message("steering"),
    message("user"),
    draftOf("turn.ended", { turn: 2, reason: "done" }),
  ]);
  fold(state, steered!);
  assert.equal(state.rejected.size, 1);
  fold(state, said!);
  fold(state, ended!);
  assert.deepEqual([state.turn, state.openTurn, state.rejected.size], [2, null, 0]);
});

test("a plan is known while the mode is plan", () => {
  const planning = { remembered: "auto-edit", file: "/workspace/plan.md" };
  const planned = [createdDraft(), draftOf("mode.changed", { from: "auto-edit", to: "plan", by: "T", planning })];
  assert.deepEqual(folded(planned).planning, planning);
  assert.equal(folded([...planned, draftOf("mode.changed", { from: "plan", to: "auto-edit", by: "T" })]).planning, null);
});

type IllegalRow = readonly [name: string, before: readonly Draft[], event: Draft, state: string];

const illegal: readonly IllegalRow[] = [
  ["a second beginning", [createdDraft()], createdDraft(), "created"],
  ["a call proposed twice", [createdDraft(), proposedDraft("c")], proposedDraft("c"), "proposed"],
  ["an ended call proposed again", [...claimed, endedDraft("c")], proposedDraft("c"), "ended"],
  ["a judgement of nothing", [createdDraft()], judgedDraft("c"), "none"],
  ["a claim of an ask", [createdDraft(), proposedDraft("c"), judgedDraft("c", ask)], claimedDraft("c"), "judged"],
  ["a claim of a deny", [createdDraft(), proposedDraft("c"), judgedDraft("c", { verdict: "deny" })], claimedDraft("c"), "judged"],
  [
    "a claim of another fingerprint",
    [createdDraft(), proposedDraft("c"), judgedDraft("c")],
    claimedDraft("c", { fingerprint: "other" }),
    "judged",
  ],
  ["a claim while waiting", waiting, claimedDraft("c"), "waiting"],
  ["a second claim", claimed, claimedDraft("c"), "claimed"],
  ["a second end", [...claimed, endedDraft("c")], endedDraft("c"), "ended"],
  ["a success that was never claimed", waiting, endedDraft("c"), "waiting"],
  ["a second answer to one approval", approved, answeredDraft(SESSION, "c"), "approved"],
  ["an answer to another fingerprint", waiting, answeredDraft(SESSION, "c", { fingerprint: "other" }), "waiting"],
  ["an answer to another revision", waiting, answeredDraft(SESSION, "c", { revision: 2 }), "waiting"],
  [
    "an answer to an expired approval",
    [...waiting, closedDraft(SESSION, "c", { outcome: "expired" })],
    answeredDraft(SESSION, "c"),
    "waiting",
  ],
  [
    "a grant's consent to an insisting ask",
    [createdDraft(), proposedDraft("c"), judgedDraft("c", { ...ask, explicitAsk: true })],
    liftedDraft("c", { kind: "grant", id: "g" }),
    "judged",
  ],
  [
    "a claim of consent whose request is denied by now",
    [...approved, judgedDraft("c", { verdict: "deny", revision: 2 })],
    claimedDraft("c", { answer: { pos: 5 } }),
    "approved",
  ],
  [
    "consent to a request that is denied by now, claimed",
    [...waiting, judgedDraft("c", { verdict: "deny", revision: 2 }), answeredDraft(SESSION, "c")],
    claimedDraft("c", { answer: { pos: 6 } }),
    "approved",
  ],
  [
    "a claim of a grant's consent that a rule overruled by insisting",
    [...waiting.slice(0, 3), liftedDraft("c", { kind: "grant", id: "g" }), judgedDraft("c", { ...ask, explicitAsk: true, revision: 2 })],
    claimedDraft("c", { answer: { pos: 4 } }),
    "approved",
  ],
  [
    "a claim of consent to another request than the one judged last",
    [...approved, judgedDraft("c", { ...ask, fingerprint: "other", revision: 2 })],
    claimedDraft("c", { fingerprint: "other", answer: { pos: 5 } }),
    "approved",
  ],
  [
    "a claim of consent that was taken back",
    [...approved, closedDraft(SESSION, "c", { outcome: "denied" })],
    claimedDraft("c", { answer: { pos: 5 } }),
    "waiting",
  ],
  ["a proposal staged twice", [createdDraft(), stagedDraft("p_1")], stagedDraft("p_1"), "staged"],
  ["a proposal applied without a claim", [createdDraft(), stagedDraft("p_1")], applied("p_1"), "staged"],
  ["a second claim of a proposal", [createdDraft(), stagedDraft("p_1"), applyingDraft("p_1")], applyingDraft("p_1"), "applying"],
  ["a claim of another content than was staged", [createdDraft(), stagedDraft("p_1")], applyingDraft("p_1", { digest: "x" }), "staged"],
  ["a discard of what was never staged", [createdDraft()], discarded("p_1"), "none"],
  ["an undo of what is only staged", [createdDraft(), stagedDraft("p_1")], undone, "staged"],
  [
    "a request for another content than was staged",
    [createdDraft(), stagedDraft("p_1")],
    requestedDraft(SESSION, "p_1", { digest: "x" }),
    "staged",
  ],
  ["a question asked twice under one id", asking, askedDraft("q_1", "c"), "open"],
  ["a question asked again over its answer", [...asking, repliedDraft(SESSION, "q_1")], askedDraft("q_1", "c"), "answered"],
  ["a second answer to one question", [...asking, repliedDraft(SESSION, "q_1")], repliedDraft(SESSION, "q_1"), "answered"],
  ["an expiry after consent", approved, closedDraft(SESSION, "c", { outcome: "expired" }), "approved"],
  ["an approval opened again under the same revision", waiting, openedDraft("c"), "waiting"],
];
for (const [name, before, event, state] of illegal) {
  test(`${name} is an illegal event and changes nothing`, () => {
    const now = folded(before);
    const kept = JSON.stringify(toSnapshot(now));
    const [bad] = placed([...before, event]).slice(-1);
    assert.throws(
      () => fold(now, bad!),
      (error) => error instanceof IllegalEvent && error.state === state && error.type === event.type && error.seq === bad?.seq,
    );
    assert.equal(JSON.stringify(toSnapshot(now)), kept);
  });
}

test("a session knows the newest time on record, and an older one that comes later does not turn it back", () => {
  const state = folded([createdDraft(), { ...proposedDraft("c"), at: "2026-02-01T00:00:00.000Z" }, judgedDraft("c")]);
  assert.equal(state.at, "2026-02-01T00:00:00.000Z");
});

test("events of the shared chain that concern no call change nothing but how far one has looked", () => {
  const state = folded([createdDraft(), grantedDraft("g_1"), draftOf("grant.revoked", { grant: "g_1", by: "T" })]);
  assert.deepEqual([state.seq, state.shared, state.calls.size], [1, 3, 0]);
});

/** Complete histories of calls. */
const LIVES: readonly ((call: string) => readonly Draft[])[] = [
  (id) => [proposedDraft(id), endedDraft(id, { outcome: "invalid", type: "invalid_json" })],
  (id) => [proposedDraft(id), judgedDraft(id), claimedDraft(id), endedDraft(id)],
  (id) => [proposedDraft(id), judgedDraft(id), claimedDraft(id), endedDraft(id, { outcome: "unknown", type: "execution_unknown" })],
  (id) => [proposedDraft(id), judgedDraft(id, { verdict: "deny" }), endedDraft(id, { outcome: "denied", type: "denied_by_rule" })],
  (id) => [proposedDraft(id), judgedDraft(id, ask), openedDraft(id), answeredDraft(SESSION, id), claimedDraft(id), endedDraft(id)],
  (id) => [
    proposedDraft(id),
    judgedDraft(id, ask),
    openedDraft(id),
    answeredDraft(SESSION, id, { outcome: "rejected" }),
    endedDraft(id, { outcome: "rejected", type: "rejected_by_user" }),
  ],
  (id) => [
    proposedDraft(id),
    judgedDraft(id, ask),
    openedDraft(id),
    closedDraft(SESSION, id),
    endedDraft(id, { outcome: "cancelled", type: "cancelled" }),
  ],
  (id) => [proposedDraft(id), judgedDraft(id, ask), liftedDraft(id, { kind: "hook", id: "h" }), claimedDraft(id), endedDraft(id)],
  (id) => [
    proposedDraft(id),
    judgedDraft(id, ask),
    openedDraft(id),
    judgedDraft(id, { ...ask, revision: 2 }),
    openedDraft(id, { revision: 2 }),
  ],
];

/** Complete histories of proposals and questions, each with its own call. */
const WAITING_LIVES: readonly ((call: string) => readonly Draft[])[] = [
  (id) => [stagedDraft(`p_${id}`), applyingDraft(`p_${id}`), applied(`p_${id}`)],
  (id) => [stagedDraft(`p_${id}`), requestedDraft(SESSION, `p_${id}`), discarded(`p_${id}`)],
  (id) => [stagedDraft(`p_${id}`), stale(`p_${id}`, "lost")],
  (id) => [
    proposedDraft(id),
    judgedDraft(id),
    claimedDraft(id),
    askedDraft(`q_${id}`, id),
    repliedDraft(SESSION, `q_${id}`),
    endedDraft(id),
  ],
  (id) => [draftOf("notice.queued", { notice: `n_${id}`, kind: "k", modelText: "m", displayText: "d" })],
];
const ALL_LIVES = [...LIVES, ...WAITING_LIVES];

/** Interleaves several histories, keeping the order of each. */
const histories = fc
  .array(fc.tuple(fc.integer({ min: 0, max: ALL_LIVES.length - 1 }), fc.integer({ min: 1, max: 6 })), { minLength: 1, maxLength: 6 })
  .chain((picked) => {
    const lives = picked.map(([life, length], at) => ALL_LIVES[life]!(`c${at}`).slice(0, length));
    const turns = lives.flatMap((life, at) => life.map(() => at));
    return fc.shuffledSubarray(turns, { minLength: turns.length, maxLength: turns.length }).map((order) => {
      const left = lives.map((life) => [...life]);
      return placed([createdDraft(), ...order.map((at) => left[at]!.shift()!)]);
    });
  });

test("law: folding a prefix, keeping it as a snapshot and folding the rest is folding all", () => {
  fc.assert(
    fc.property(histories, fc.nat(), (events, cut) => {
      const whole = emptySession();
      for (const event of events) fold(whole, event);
      const prefix = emptySession();
      const at = cut % (events.length + 1);
      for (const event of events.slice(0, at)) fold(prefix, event);
      const kept = fromSnapshot(JSON.parse(JSON.stringify(toSnapshot(prefix)))) ?? assert.fail("our own snapshot was refused");
      for (const event of events.slice(at)) fold(kept, event);
      assert.equal(JSON.stringify(toSnapshot(kept)), JSON.stringify(toSnapshot(whole)));
    }),
  );
});

test("law: folding the same events twice gives equal states, and changes no event", () => {
  fc.assert(
    fc.property(histories, (events) => {
      const before = JSON.stringify(events);
      const [one, other] = [emptySession(), emptySession()];
      for (const event of events) fold(one, event);
      for (const event of events) fold(other, event);
      assert.deepEqual(one, other);
      assert.equal(JSON.stringify(events), before);
    }),
  );
});

const REPEATABLE: readonly string[] = ["call.judged", "proposal.requested", "notice.queued"];

test("law: no event of a history can be folded twice in a row, except where it changes no state", () => {
  fc.assert(
    fc.property(histories, fc.nat(), (events, cut) => {
      const at = cut % events.length;
      const state = emptySession();
      for (const event of events.slice(0, at + 1)) fold(state, event);
      const again = events[at]!;
      if (REPEATABLE.includes(again.type)) return; // judged or requested again
      assert.throws(() => fold(state, again), IllegalEvent);
    }),
  );
});
