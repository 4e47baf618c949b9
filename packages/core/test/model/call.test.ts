import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Call, hasJudgement, isAsked, mayBeUnderWay, next } from "../../src/model/call.ts";
import type { EventBodies, EventType, LedgerEvent } from "../../src/model/events.ts";

let pos = 0;
function event<T extends EventType>(type: T, body: EventBodies[T]): LedgerEvent {
  pos += 1;
  return { type, v: 1, at: "2026-01-01T00:00:00.000Z", body, session: "s_1", seq: pos, pos, epoch: 1 } as LedgerEvent;
}

const proposed = (): LedgerEvent => event("call.proposed", { call: "c", turn: 0, index: 0, tool: "t", raw: "{}", givenId: "c" });
const judged = (verdict: "allow" | "ask" | "deny", fingerprint = "f1", explicitAsk = false): LedgerEvent =>
  event("call.judged", {
    call: "c",
    revision: 1,
    fingerprint,
    tool: "t",
    toolDigest: "d",
    kind: "edit",
    safe: false,
    input: {},
    cwd: "/",
    binds: {},
    verdict,
    explicitAsk,
    reason: "default",
    source: "",
    rule: null,
    trace: [],
    units: 1,
    policy: "p",
  });
const opened = (revision = 1, fingerprint = "f1"): LedgerEvent =>
  event("approval.opened", {
    approval: "a",
    call: "c",
    revision,
    fingerprint,
    tool: "t",
    title: "T",
    reason: "default",
    source: "",
    rule: null,
    explicitAsk: false,
    details: { type: "info", prompt: "p" },
    facts: null,
    suggestions: [],
    expiresAt: null,
  });
const by = { kind: "person", user: "u", name: "u", door: "test", pid: 1 } as const;
const answered = (outcome: "approved" | "rejected", fingerprint = "f1", edited?: string): LedgerEvent =>
  event("approval.answered", {
    approval: "a",
    session: "s_1",
    call: "c",
    revision: 1,
    outcome,
    fingerprint,
    by,
    reason: null,
    ...(edited !== undefined && { edited: { input: {}, fingerprint: edited } }),
  });
const closed = (outcome: "expired" | "cancelled" | "denied"): LedgerEvent =>
  event("approval.closed", { approval: "a", session: "s_1", call: "c", revision: 1, outcome, by: "runtime" });
const granted = (fingerprint = "f1"): LedgerEvent =>
  event("call.answered", { call: "c", fingerprint, by: { kind: "grant", id: "g" }, source: "grant_session" });
const claimed = (fingerprint = "f1", attempt = 1, key: string | null = null): LedgerEvent =>
  event("call.claimed", { call: "c", fingerprint, answer: null, attempt, durability: "full", idempotencyKey: key, plan: null });
const started = (): LedgerEvent => event("call.started", { call: "c", pid: 7, pgid: 7, processStart: "1" });
const ended = (outcome: EventBodies["call.ended"]["outcome"]): LedgerEvent =>
  event("call.ended", { call: "c", outcome, type: null, content: "x", durationMs: 0 });

function after(...events: readonly LedgerEvent[]): Call | undefined {
  let call: Call | undefined;
  for (const each of events) {
    const following = next(call, each);
    if (!following) return undefined;
    call = following;
  }
  return call;
}

const rows: readonly (readonly [sentence: string, events: readonly LedgerEvent[], state: Call["state"] | undefined])[] = [
  ["a proposal begins a call", [proposed()], "proposed"],
  ["nothing but a proposal begins a call", [judged("allow")], undefined],
  ["a call is not proposed twice", [proposed(), proposed()], undefined],
  ["an invalid proposal ends", [proposed(), ended("invalid")], "ended"],
  ["a proposal whose decision could not be stored ends denied", [proposed(), ended("denied")], "ended"],
  ["a proposal does not succeed", [proposed(), ended("succeeded")], undefined],
  ["an allow is claimed", [proposed(), judged("allow"), claimed()], "claimed"],
  ["an allow is claimed only with its fingerprint", [proposed(), judged("allow"), claimed("f2")], undefined],
  ["a deny is never claimed", [proposed(), judged("deny"), claimed()], undefined],
  ["a deny is never asked about", [proposed(), judged("deny"), opened()], undefined],
  ["an ask is never claimed", [proposed(), judged("ask"), claimed()], undefined],
  ["an ask waits", [proposed(), judged("ask"), opened()], "waiting"],
  ["an approval shows the judged request", [proposed(), judged("ask"), opened(1, "f2")], undefined],
  ["a waiting call is never claimed", [proposed(), judged("ask"), opened(), claimed()], undefined],
  ["consent approves", [proposed(), judged("ask"), opened(), answered("approved")], "approved"],
  ["consent for another fingerprint is none", [proposed(), judged("ask"), opened(), answered("approved", "f2")], undefined],
  ["an approval is answered once", [proposed(), judged("ask"), opened(), answered("approved"), answered("rejected")], undefined],
  ["an approved call is claimed", [proposed(), judged("ask"), opened(), answered("approved"), claimed()], "claimed"],
  ["a rejection leaves the call waiting", [proposed(), judged("ask"), opened(), answered("rejected")], "waiting"],
  ["a rejection cannot become consent", [proposed(), judged("ask"), opened(), answered("rejected"), answered("approved")], undefined],
  ["a rejected call is never claimed", [proposed(), judged("ask"), opened(), answered("rejected"), claimed()], undefined],
  ["a rejection ends rejected", [proposed(), judged("ask"), opened(), answered("rejected"), ended("rejected")], "ended"],
  [
    "an edit is not claimed before it is judged",
    [proposed(), judged("ask"), opened(), answered("approved", "f1", "f2"), claimed("f2")],
    undefined,
  ],
  [
    "an edit is claimed once it is judged",
    [proposed(), judged("ask"), opened(), answered("approved", "f1", "f2"), judged("ask", "f2"), claimed("f2")],
    "claimed",
  ],
  [
    "the original of an edit is never claimed",
    [proposed(), judged("ask"), opened(), answered("approved", "f1", "f2"), claimed("f1")],
    undefined,
  ],
  ["a grant answers the default ask", [proposed(), judged("ask"), granted(), claimed()], "claimed"],
  ["no grant answers an insisting ask", [proposed(), judged("ask", "f1", true), granted()], undefined],
  ["a grant's consent covers its fingerprint", [proposed(), judged("ask"), granted("f2")], undefined],
  ["an expired approval ends expired", [proposed(), judged("ask"), opened(), closed("expired"), ended("expired")], "ended"],
  ["a closed approval takes no answer", [proposed(), judged("ask"), opened(), closed("expired"), answered("approved")], undefined],
  [
    "consent is taken back before the claim",
    [proposed(), judged("ask"), opened(), answered("approved"), closed("denied"), claimed()],
    undefined,
  ],
  ["a taken back yes ends denied", [proposed(), judged("ask"), opened(), answered("approved"), closed("denied"), ended("denied")], "ended"],
  ["consent does not expire", [proposed(), judged("ask"), opened(), answered("approved"), closed("expired")], undefined],
  [
    "a changed request is asked about again under a higher revision",
    [proposed(), judged("ask"), opened(), judged("ask", "f2"), opened(2, "f2")],
    "waiting",
  ],
  [
    "an approval is not opened twice under one revision",
    [proposed(), judged("ask"), opened(), judged("ask", "f2"), opened(1, "f2")],
    undefined,
  ],
  [
    "consent to what changed since is not claimed",
    [proposed(), judged("ask"), opened(), answered("approved"), judged("ask", "f2"), claimed("f2")],
    undefined,
  ],
  [
    "consent to what changed since is asked again",
    [proposed(), judged("ask"), opened(), answered("approved"), judged("ask", "f2"), opened(2, "f2")],
    "waiting",
  ],
  ["a started process changes no state", [proposed(), judged("allow"), claimed(), started()], "claimed"],
  ["a claimed call is not claimed again", [proposed(), judged("allow"), claimed(), claimed()], undefined],
  ["one retry with the same key may follow", [proposed(), judged("allow"), claimed("f1", 1, "k"), claimed("f1", 2, "k")], "claimed"],
  ["a retry has the same key", [proposed(), judged("allow"), claimed("f1", 1, "k"), claimed("f1", 2, "other")], undefined],
  [
    "there is no second retry",
    [proposed(), judged("allow"), claimed("f1", 1, "k"), claimed("f1", 2, "k"), claimed("f1", 3, "k")],
    undefined,
  ],
  ["without a key there is no retry", [proposed(), judged("allow"), claimed(), claimed("f1", 2)], undefined],
  ["a claimed call may end unknown", [proposed(), judged("allow"), claimed(), ended("unknown")], "ended"],
  ["a claimed call does not end denied", [proposed(), judged("allow"), claimed(), ended("denied")], undefined],
  ["an ended call ends once", [proposed(), ended("cancelled"), ended("cancelled")], undefined],
];
for (const [sentence, events, state] of rows) test(sentence, () => assert.equal(after(...events)?.state, state));

const sayings: readonly [sentence: string, events: readonly LedgerEvent[], says: string][] = [
  ["a proposed call says nothing yet", [proposed()], ""],
  ["a judged call has its judgement", [proposed(), judged("allow")], "judged"],
  ["a waiting call asked", [proposed(), judged("ask"), opened()], "judged, asked"],
  ["an approved call asked", [proposed(), judged("ask"), opened(), answered("approved")], "judged, asked"],
  ["a call that a grant answered asked", [proposed(), judged("ask"), granted()], "judged, asked"],
  ["a claimed call may be under way", [proposed(), judged("allow"), claimed()], "judged, under way"],
  ["a call whose process was told may be under way", [proposed(), judged("allow"), claimed(), started()], "judged, under way"],
  ["an ended call is under way no more", [proposed(), judged("allow"), claimed(), ended("unknown")], ""],
];
for (const [sentence, events, says] of sayings)
  test(sentence, () => {
    const call = after(...events);
    assert.ok(call, "the events are legal");
    const heard = [hasJudgement(call) && "judged", isAsked(call) && "asked", mayBeUnderWay(call) && "under way"];
    assert.equal(heard.filter((word) => word !== false).join(", "), says);
  });

test("a cancel is legal in every state but ended", () => {
  const prefixes = [
    [proposed()],
    [proposed(), judged("ask")],
    [proposed(), judged("ask"), opened()],
    [proposed(), judged("ask"), opened(), answered("approved")],
    [proposed(), judged("allow"), claimed()],
  ];
  for (const prefix of prefixes) assert.equal(after(...prefix, ended("cancelled"))?.state, "ended");
});

const anyEvent = fc.oneof(
  fc
    .constantFrom("allow" as const, "ask" as const, "deny" as const)
    .chain((verdict) => fc.constantFrom("f1", "f2").map((print) => judged(verdict, print))),
  fc.constantFrom(1, 2, 3).chain((revision) => fc.constantFrom("f1", "f2").map((print) => opened(revision, print))),
  fc.constantFrom("f1", "f2").map((print) => answered("approved", print)),
  fc.constant(answered("approved", "f1", "f2")),
  fc.constant(answered("rejected")),
  fc.constantFrom("f1", "f2").map((print) => granted(print)),
  fc.constantFrom("expired" as const, "denied" as const, "cancelled" as const).map(closed),
  fc.constantFrom("f1", "f2").map((print) => claimed(print)),
);

/** A step into `claimed` needs a judged allow or an approval that covers the judged fingerprint. */
function checkStep(before: Call, each: LedgerEvent, after: Call): void {
  if (after.state !== "claimed" || before.state === "claimed") return;
  assert.ok(before.state === "approved" || (before.state === "judged" && before.judged.verdict === "allow"));
  assert.equal(each.type === "call.claimed" && each.body.fingerprint, before.judged.fingerprint);
  if (before.state === "approved") assert.equal(before.consent.covers, before.judged.fingerprint);
}

test("law: no event sequence reaches claimed without the judged fingerprint, nor from an ask without passing approved", () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 14 }), (events) => {
      let call = next(undefined, proposed());
      for (const each of events) {
        const following = call && next(call, each);
        if (!call || !following) continue;
        checkStep(call, each, following);
        call = following;
      }
    }),
    { numRuns: 2_000 },
  );
});
