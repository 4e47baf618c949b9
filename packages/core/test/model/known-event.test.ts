import assert from "node:assert/strict";
import { test } from "node:test";
import type { Draft, StoredEvent } from "../../src/model/events.ts";
import { callOf, contentsOf, EVENT_TYPES, isAnswerable, isAppendable, namedSession, parseEvent } from "../../src/model/known-event.ts";
import {
  answeredDraft,
  applyingDraft,
  askedDraft,
  closedDraft,
  createdDraft,
  draftOf,
  grantedDraft,
  proposedDraft,
  repliedDraft,
  requestedDraft,
  stagedDraft,
  TESTER,
} from "../../testing/drafts.ts";

test("the list of event types is frozen", () => assert.ok(Object.isFrozen(EVENT_TYPES)));

test("an event of an unknown type or a newer version is not understood", () => {
  const stored: StoredEvent = { session: "s_1", seq: 1, pos: 1, epoch: 1, at: "", type: "call.ended", v: 1, body: {} };
  assert.equal(parseEvent(stored), stored);
  assert.equal(parseEvent({ ...stored, v: 2 }), undefined);
  assert.equal(parseEvent({ ...stored, type: "call.imagined" }), undefined);
  assert.equal(parseEvent({ ...stored, type: "toString" }), undefined);
});

const NAMING: readonly (readonly [Draft, string | undefined])[] = [
  [answeredDraft("s_1", "c1"), "s_1"],
  [closedDraft("s_1", "c1"), "s_1"],
  [grantedDraft("g_1", { scope: "session", session: "s_1" }), "s_1"],
  [grantedDraft("g_1"), undefined],
  [draftOf("grant.used", { grant: "g_1", session: "s_1", call: "c1" }), "s_1"],
  [draftOf("grant.revoked", { grant: "g_1", by: "Tester" }), undefined],
  [draftOf("trust.revoked", { workspace: "/w", by: TESTER }), "trust:/w"],
  [
    draftOf("notification.sent", { session: "s_1", receiver: "slack:1", items: ["approval:a_1"], by: "n_1", state: "sent", until: null }),
    "notification:s_1",
  ],
  [requestedDraft("s_1", "p_1"), "s_1"],
  [repliedDraft("s_1", "q_1"), "s_1"],
  [stagedDraft("p_1"), undefined],
  [askedDraft("q_1", "c1"), undefined],
  [draftOf("session.registered", { session: "s_1" }), undefined],
  [proposedDraft("c1"), undefined],
];

for (const [draft, expected] of NAMING) {
  test(`${draft.type} names ${expected ?? "no session"}`, () => assert.equal(namedSession(draft), expected));
}

test("the call of an event is what its body says", () => {
  assert.equal(callOf(proposedDraft("c1")), "c1");
  assert.equal(callOf(answeredDraft("s_1", "c1")), "c1");
  assert.equal(callOf(createdDraft()), undefined);
  assert.equal(callOf({ body: { call: 3 } }), undefined);
});

test("a proposal and a question are not lifecycle events of their call", () => {
  assert.equal(callOf(stagedDraft("p_1", { callId: "c1" })), undefined);
  assert.equal(callOf(askedDraft("q_1", "c1")), undefined);
});

test("a staged proposal alone names contents", () => {
  assert.deepEqual(contentsOf(stagedDraft("p_1", { contents: ["a", "b"] })), ["a", "b"]);
  assert.deepEqual(contentsOf(applyingDraft("p_1")), []);
  assert.deepEqual(contentsOf(proposedDraft("c1", { raw: { contents: ["a"] } })), []);
});

test("a claim and the store's own records go through no common door, and no type through both", () => {
  const closed = EVENT_TYPES.filter((type) => !isAppendable(type) && !isAnswerable(type));
  assert.deepEqual(
    closed.filter((type) => !type.startsWith("store.")),
    ["call.claimed", "session.registered"],
  );
  assert.deepEqual(
    EVENT_TYPES.filter((type) => isAppendable(type) && isAnswerable(type)),
    [],
  );
  assert.equal(isAppendable("call.imagined") || isAnswerable("call.imagined"), false);
});
