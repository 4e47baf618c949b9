import {
  type ClaimLost,
  type Cursor,
  type EventFilter,
  type Lease,
  type Ledger,
  LedgerError,
  type SharedDraft,
} from "../../ledger-port.ts";
import { type Draft, type Holder, type LedgerEvent, SHARED } from "../../model/events.ts";
import type { CallChange } from "../../model/fold.ts";
import { grantRefusal } from "../../model/grant-row.ts";
import { isAnswerable, isAppendable, naming } from "../../model/known-event.ts";
import { answerRefusal, claimLoss, proposalRefusal, questionRefusal, standsOn } from "../../model/ledger-rules.ts";
import { ownOf, type Unplaced, unplaced } from "../../model/unplaced.ts";
import type { Clock, Ids } from "../../ports.ts";
import { makeStamp } from "../session/stamp.ts";
import { type Chain, type Chains, chainOf, emptyChains, makeReader } from "./chains.ts";
import { type Contents, contentOf, hashed, makeTurns, refuseContents } from "./contents.ts";
import { makeFollowers } from "./followers.ts";
import { listPage } from "./lists.ts";
import { apply, keep, place, placeBehind, refusal, refuseType, together } from "./writing.ts";

/** What a memory ledger may be given; without a clock it takes the system's, without ids a random store id. */
export type MemoryLedgerOptions = { readonly clock?: Pick<Clock, "now">; readonly ids?: Ids };

/**
 * A ledger that lives as long as the object: for embedding without a store, and for tests.
 *
 * It keeps the drafts' bodies by reference, so whoever appends must not change them; it makes no canonical form and no hashes.
 * A session is held until its holder closes it or somebody takes it over: a process has no dead holders in its own memory.
 */
export function memoryLedger({ clock = Date, ids }: MemoryLedgerOptions = {}): Ledger {
  const followers = makeFollowers();
  const stamp = makeStamp();
  const chains = emptyChains(() => stamp(clock.now()));
  const turns = makeTurns();
  const written = <T>(result: T): T => {
    followers.wake();
    return result;
  };
  const store = (lease: Lease, expected: number, batch: Batch): readonly LedgerEvent[] =>
    written(append(chains, writable(chainOf(chains, lease.session), lease, expected), batch));
  const ledger: Ledger = {
    durable: false,
    storeId: ids?.next("store_") ?? crypto.randomUUID(),
    acquire: async (session, holder, takeOver = false) => turns.take(() => acquire(chains, { session, holder, takeOver })),
    hold: async (lease) => {
      const chain = chainOf(chains, lease.session);
      refuseStale(chain, lease);
      chain.holds += 1;
      return () => {
        chain.holds -= 1;
      };
    },
    append: async (lease, expected, { events, blobs = [] }) => {
      if (blobs.length > 0) return turns.takeAfter(hashed(blobs), (given) => store(lease, expected, { drafts: events, given }));
      return turns.take(() => store(lease, expected, { drafts: events, given: NOTHING }));
    },
    answer: async (events) => turns.take(() => written(answer(chains, events))),
    claim: async (lease, expected, claimed) =>
      turns.take(() => written(claim(chains, writable(chainOf(chains, lease.session), lease, expected), unplaced(claimed)))),
    read: (from, filter = {}) => readEvents(chains, from, filter),
    subscribe: (from, filter, sink) => followers.add(makeReader(chains, from, filter), sink),
    pending: async (kind, query = {}) => listPage(chains, kind, query),
    snapshot: async (session, seq, state) => {
      const chain = chainOf(chains, session);
      if (seq <= chain.events.length && seq >= (chain.snapshot?.seq ?? 0)) chain.snapshot = { seq, state };
    },
    latest: async (session) => chains.bySession.get(session)?.snapshot,
    resolve: async (value) => value,
    blob: (sha) => contentOf(chains.blobs, sha),
    head: async () => chains.log.length,
    close: async () => {
      followers.clear();
      for (const chain of chains.bySession.values()) chain.holder = undefined;
    },
  };
  const direct: AtOnce = {
    of: ledger,
    isFree: turns.areFree,
    open: (lease) => {
      const chain = chainOf(chains, lease.session);
      return {
        append: (expected, drafts) => written(append(chains, writable(chain, lease, expected), { drafts, given: NOTHING })),
        appendOne: (expected, draft) => written(appendOne(chains, writable(chain, lease, expected), ownOf(draft))),
        claim: (expected, claimed) => written(claim(chains, writable(chain, lease, expected), ownOf(claimed))),
        changed: chain.changed,
      };
    },
  };
  return Object.defineProperty(ledger, AT_ONCE, { value: direct });
}

/** Not inside of a ledger: V8 keeps, with what lives long, for every generator that is a function of its own, what that function sees. */
async function* readEvents(chains: Chains, from: Cursor, filter: EventFilter): AsyncGenerator<LedgerEvent> {
  const next = makeReader(chains, from, filter);
  const until = chains.log.length;
  for (let event = next(until); event !== undefined; event = next(until)) yield event;
}

/** The writes of a ledger whose commits wait for nothing: what they return is committed, what they throw stored nothing. */
export type AtOnce = {
  /** Whose writes they are. */
  readonly of: Ledger;
  /** False while a write still waits: nothing may overtake it. */
  readonly isFree: () => boolean;
  /** How the holder of this lease writes. */
  readonly open: (lease: Lease) => {
    readonly append: (expected: number, events: readonly Draft[]) => readonly LedgerEvent[];
    /** The same for one, which becomes the event where it has room for its place. */
    readonly appendOne: (expected: number, event: Draft) => LedgerEvent;
    readonly claim: (expected: number, claimed: Draft<"call.claimed">) => Claim;
    /** What the newest event made of its call, where it changed one. */
    readonly changed: CallChange;
  };
};

/** A property of the ledger itself: what a weak map holds outlives its key until the next full collection, and with it every event of a session that is over. */
const AT_ONCE: unique symbol = Symbol("atOnce");

/** How to write to this very ledger without waiting; undefined for one that must be waited for, and for one in another's wrapping. */
export function atOnce(ledger: Ledger & { readonly [AT_ONCE]?: AtOnce }): AtOnce | undefined {
  const direct = ledger[AT_ONCE];
  return direct?.of === ledger ? direct : undefined;
}

const NOTHING: Contents = new Map();

type Acquiring = { readonly session: string; readonly holder: Holder; readonly takeOver: boolean };

function acquire(chains: Chains, { session, holder, takeOver }: Acquiring): Lease {
  if (session === SHARED) throw new LedgerError("session_not_found", "The shared chain is no session and has no single writer.");
  const chain = chainOf(chains, session);
  if (chain.holder && !takeOver) {
    const { pid, host, processStart, door } = chain.holder;
    throw new LedgerError("session_in_use", `Session ${session} is held by pid ${pid}.`, {
      session,
      holder: { pid, host, processStart, door },
    });
  }
  if (chain.holds > 0) {
    const detail = { session, ...(chain.holder && { holder: { ...chain.holder } }) };
    throw new LedgerError("session_busy", `Session ${session} is in the middle of a call or a change.`, detail);
  }
  chains.epoch += 1;
  chain.epoch = chains.epoch;
  chain.holder = holder;
  const last = chain.events.at(-1);
  return { session, epoch: chain.epoch, head: chain.events.length, unclosed: last !== undefined && last.type !== "session.closed" };
}

function refuseStale(chain: Chain, { session, epoch }: Lease): void {
  if (chain.epoch === epoch) return;
  const message = `Session ${session} was taken over; this writer may not go on.`;
  throw new LedgerError("stale_writer", message, { session, mine: epoch, current: chain.epoch });
}

function writable(chain: Chain, lease: Lease, expected: number): Chain {
  refuseStale(chain, lease);
  const { session } = lease;
  const actual = chain.events.length;
  if (actual === expected) return chain;
  throw new LedgerError("sequence_conflict", `Expected ${expected} as the last event of ${session}, found ${actual}.`, {
    session,
    expected,
    actual,
  });
}

type Batch = { readonly drafts: readonly Draft[]; readonly given: Contents };

function append(chains: Chains, chain: Chain, { drafts, given }: Batch): readonly LedgerEvent[] {
  const [only] = drafts;
  if (only && drafts.length === 1 && given.size === 0) return [appendOne(chains, chain, unplaced(only))];
  refuseContents(drafts, given, chains.blobs);
  const events = together(chains, () =>
    drafts.map((draft, index) => {
      refuseType(draft, isAppendable(draft.type));
      const event = placeBehind(chains, chain, { draft, index });
      apply(chains, event, chain);
      return event;
    }),
  );
  for (const event of events) keep(chains, chain, event);
  for (const [sha, bytes] of given) chains.blobs.set(sha, bytes);
  return events;
}

function appendOne(chains: Chains, chain: Chain, own: Unplaced): LedgerEvent {
  refuseType(own, isAppendable(own.type));
  if (own.type === "proposal.staged") refuseContents([own], NOTHING, chains.blobs);
  const event = place(chains, chain, own);
  try {
    apply(chains, event, chain);
  } catch (error) {
    throw refusal(error);
  }
  keep(chains, chain, event);
  return event;
}

type Claim = { readonly won: LedgerEvent } | { readonly lost: ClaimLost };

function claim(chains: Chains, chain: Chain, claimed: Unplaced<"call.claimed">): Claim {
  refuseType(claimed, claimed.type === "call.claimed");
  const call = chain.calls.get(claimed.body.call);
  const { approval, grant } = standsOn(call);
  const lost = claimLoss(claimed.body, {
    call,
    approval: approval === undefined ? undefined : chains.approvals.get(approval),
    grant: grant === undefined ? undefined : chains.grants.get(grant),
    policySeq: chain.policySeq,
    now: grant === undefined ? "" : chains.now(),
    durable: false,
  });
  if (lost !== undefined) return { lost };
  const won = place(chains, chain, claimed);
  apply(chains, won, chain);
  keep(chains, chain, won);
  return { won };
}

type Answered = { readonly won: readonly LedgerEvent[] } | { readonly lost: LedgerEvent };

function answer(chains: Chains, drafts: readonly SharedDraft[]): Answered {
  if (drafts.length === 0) throw new LedgerError("event_invalid", "An answer needs at least one event.");
  const now = chains.now();
  const shared = chainOf(chains, SHARED);
  const answered = together(chains, (rollBack): Answered => {
    const won: LedgerEvent[] = [];
    for (const draft of drafts) {
      refuseType(draft, isAnswerable(draft.type));
      const lost = standing(chains, draft, now);
      if (lost) {
        rollBack();
        return { lost };
      }
      const event = placeBehind(chains, shared, { draft, index: won.length });
      apply(chains, event, chainOf(chains, naming(event) ?? SHARED));
      won.push(event);
    }
    return { won };
  });
  if ("won" in answered) for (const event of answered.won) keepAnswer(chains, shared, event);
  return answered;
}

function keepAnswer(chains: Chains, shared: Chain, event: LedgerEvent): void {
  keep(chains, shared, event);
  const named = naming(event);
  if (named !== undefined) chainOf(chains, named).named.push(event);
}

/** What stands in the way of this event. Throws where there is nothing it could be about. */
function standing(chains: Chains, draft: SharedDraft, now: string): LedgerEvent | undefined {
  if (draft.type === "trust.granted" || draft.type === "trust.revoked") return undefined; // the newest counts
  const id = subject(draft.body);
  const refused =
    answerRefusal(chains.approvals.get(id), draft, now) ??
    grantRefusal(chains.grants.get(id), draft, now) ??
    proposalRefusal(chains.proposals.get(id), draft) ??
    questionRefusal(chains.questions.get(id), draft);
  if (refused === undefined) return undefined;
  const stands = refused === "stands" ? chains.standing.get(id) : undefined;
  if (stands) return stands;
  const type = refused === "stands" ? "store_corrupt" : refused;
  throw new LedgerError(type, `${draft.type} of '${id}' cannot be stored: ${type}.`, { id });
}

type Contested = Exclude<SharedDraft, Draft<"trust.granted" | "trust.revoked">>;

function subject(body: Contested["body"]): string {
  if ("grant" in body) return body.grant;
  if ("proposal" in body) return body.proposal;
  return "question" in body ? body.question : body.approval;
}
