import assert from "node:assert/strict";
import { test } from "node:test";
import type { Lease, Ledger } from "../../../src/ledger-port.ts";
import type { Draft, LedgerEvent } from "../../../src/model/events.ts";
import { emptySession, fold, type SessionState } from "../../../src/model/fold.ts";
import type { Holder } from "../../../src/model/holder.ts";
import { memoryLedger } from "../../../src/runtime/memory-ledger/ledger.ts";
import { makeFollower, type SessionFollower, type SessionLink } from "../../../src/runtime/session/following.ts";
import {
  askedDraft,
  claimedDraft,
  createdDraft,
  judgedDraft,
  proposedDraft,
  repliedDraft,
  requestedDraft,
  stagedDraft,
} from "../../../testing/drafts.ts";

const A = "s_aaaaaaaaaaaaaaaaaaaa";
const B = "s_bbbbbbbbbbbbbbbbbbbb";
/** What is not heard would be waited for. */
const LIMIT = { timeout: 10_000 };
const HOLDER: Holder = { pid: 1, host: "h", processStart: "0", door: "test" };

type Scene = { readonly ledger: Ledger; readonly state: SessionState; readonly link: SessionLink; readonly follower: SessionFollower };

async function begun(ledger: Ledger, session: string): Promise<readonly LedgerEvent[]> {
  const lease: Lease = await ledger.acquire(session, HOLDER);
  const drafts: readonly Draft[] = [createdDraft(), stagedDraft(`p_${session}`), proposedDraft("c1"), judgedDraft("c1")];
  const events = await ledger.append(lease, 0, { events: drafts, durability: "normal" });
  const claim = await ledger.claim(lease, 4, claimedDraft("c1"));
  assert.ok("won" in claim);
  const asked = await ledger.append(lease, 5, { events: [askedDraft(`q_${session}`, "c1")], durability: "normal" });
  return [...events, claim.won, ...asked];
}

/** Session A with a proposal and a question, followed; session B beside it with its own. */
async function following(): Promise<Scene> {
  const ledger = memoryLedger();
  const state = emptySession();
  for (const event of await begun(ledger, A)) fold(state, event);
  await begun(ledger, B);
  const nothing = (): void => undefined;
  const link: SessionLink = {
    failure: undefined,
    underWay: 0,
    held: [],
    foldShared: nothing,
    catchUp: async () => nothing(),
    watched: false,
    listeners: new Set(),
  };
  return { ledger, state, link, follower: makeFollower(ledger, A, state, link) };
}

/** Waits for the next event that a watcher receives. */
function heard(follower: SessionFollower): Promise<LedgerEvent> {
  return new Promise((resolve) => {
    const { close } = follower.watch((event) => {
      close();
      resolve(event);
    });
  });
}

test("a request for a proposal is received and kept with it", LIMIT, async () => {
  const { ledger, state, follower } = await following();
  const told = heard(follower);
  await ledger.answer([requestedDraft(A, `p_${A}`, { action: "discard" })]);
  const event = await told;
  assert.deepEqual([event.type, state.proposals.get(`p_${A}`)?.requested], ["proposal.requested", { action: "discard", pos: event.pos }]);
});

test("an answer to a question is received and kept", LIMIT, async () => {
  const { ledger, state, follower } = await following();
  const told = heard(follower);
  await ledger.answer([repliedDraft(A, `q_${A}`)]);
  assert.equal((await told).type, "question.answered");
  assert.equal(state.questions.get(`q_${A}`)?.state, "answered");
});

test("events missed while not listening are read by a refresh", LIMIT, async () => {
  const { ledger, state, follower } = await following();
  await ledger.answer([requestedDraft(A, `p_${A}`)]);
  await ledger.answer([repliedDraft(A, `q_${A}`, { outcome: "declined" })]);
  await follower.refresh();
  assert.deepEqual([state.proposals.get(`p_${A}`)?.requested?.action, state.questions.get(`q_${A}`)?.state], ["apply", "declined"]);
});

test("events for another session change nothing here", LIMIT, async () => {
  const { ledger, state, link, follower } = await following();
  const told = heard(follower);
  await ledger.answer([requestedDraft(B, `p_${B}`)]);
  await told;
  assert.deepEqual([state.proposals.get(`p_${A}`)?.requested, state.proposals.size, link.failure], [null, 1, undefined]);
});
