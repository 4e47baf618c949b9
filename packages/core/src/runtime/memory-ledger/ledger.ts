import {
  type ClaimLost,
  type Cursor,
  type EventFilter,
  type Lease,
  type Ledger,
  LedgerError,
  type SharedDraft,
  type Subscription,
} from "../../ledger-port.ts";
import { type Draft, type LedgerEvent, SHARED, type StoredEvent } from "../../model/events.ts";
import { grantRefusal } from "../../model/grant-row.ts";
import type { Holder } from "../../model/holder.ts";
import { isAnswerable, isAppendable, namedSession } from "../../model/known-event.ts";
import {
  answerRefusal,
  answerSources,
  type ContestedDraft,
  claimLoss,
  isContested,
  proposalRefusal,
  questionRefusal,
} from "../../model/ledger-rules.ts";
import type { Clock, Ids } from "../../ports.ts";
import { makeStamp } from "../session/stamp.ts";
import { type Chain, type Chains, chainOf, type EventReader, emptyChains, makeReader } from "./chains.ts";
import { type BlobMap, hashContents, makeTurns, readContent, refuseContents } from "./contents.ts";
import { listPage } from "./lists.ts";
import { applyEvent, keepEvent, placeEvent, refuseType, rollBack, writeTogether } from "./writing.ts";

/** Options of a memory ledger: by default, the system's clock and a random store id. */
export type MemoryLedgerOptions = { readonly clock?: Pick<Clock, "now">; readonly ids?: Ids };

/**
 * A ledger in memory, for embedding without a store and for tests. It keeps the bodies of drafts by reference, so do not change them after an append.
 * It has no hashes. A session is held until its holder closes it or another takes it over.
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
  const store = (lease: Lease, expected: number, batch: AppendBatch): readonly LedgerEvent[] =>
    written(append(chains, writable(chainOf(chains, lease.session), lease, expected), batch));
  return {
    durable: false,
    storeId: ids?.next("store_") ?? crypto.randomUUID(),
    acquire: async (session, holder, takeOver = false) => turns.take(() => acquire(chains, session, holder, takeOver)),
    hold: async (lease) => {
      const chain = chainOf(chains, lease.session);
      refuseStale(chain, lease);
      chain.holds += 1;
      return () => {
        chain.holds -= 1;
      };
    },
    append: async (lease, expected, { events, blobs = [] }) => {
      if (blobs.length > 0) return turns.takeAfter(hashContents(blobs), (given) => store(lease, expected, { drafts: events, given }));
      return turns.take(() => store(lease, expected, { drafts: events, given: NOTHING }));
    },
    answer: async (events) => turns.take(() => written(answer(chains, events))),
    claim: async (lease, expected, claimed) =>
      turns.take(() => written(claim(chains, writable(chainOf(chains, lease.session), lease, expected), claimed))),
    read: (from, filter = {}) => readEvents(chains, from, filter),
    subscribe: (from, filter, sink) => followers.add(makeReader(chains, from, filter), sink),
    pending: async (kind, query = {}) => listPage(chains, kind, query),
    snapshot: async (session, seq, state) => {
      const chain = chainOf(chains, session);
      if (seq <= chain.events.length && seq >= (chain.snapshot?.seq ?? 0)) chain.snapshot = { seq, state };
    },
    latest: async (session) => chains.bySession.get(session)?.snapshot,
    resolve: async (value) => value,
    blob: (sha) => readContent(chains.blobs, sha),
    head: async () => chains.log.length,
    close: async () => {
      followers.clear();
      for (const chain of chains.bySession.values()) chain.holder = undefined;
    },
  };
}

async function* readEvents(chains: Chains, from: Cursor, filter: EventFilter): AsyncGenerator<LedgerEvent> {
  const next = makeReader(chains, from, filter);
  const until = chains.log.length;
  for (let event = next(until); event !== undefined; event = next(until)) yield event;
}

const NOTHING: BlobMap = new Map();

function acquire(chains: Chains, session: string, holder: Holder, takeOver: boolean): Lease {
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
  const message = `Session ${session} was taken over; this writer can no longer write.`;
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

type AppendBatch = { readonly drafts: readonly Draft[]; readonly given: BlobMap };

function append(chains: Chains, chain: Chain, { drafts, given }: AppendBatch): readonly LedgerEvent[] {
  refuseContents(drafts, given, chains.blobs);
  const events = drafts.map((draft, ahead) => {
    refuseType(draft, isAppendable(draft.type));
    return placeEvent(chains, chain, draft, ahead);
  });
  writeTogether(chains, events.length, () => {
    for (const event of events) applyEvent(chains, event, chain);
  });
  for (const event of events) keepEvent(chains, chain, event);
  for (const [sha, bytes] of given) chains.blobs.set(sha, bytes);
  return events;
}

type ClaimOutcome = { readonly won: LedgerEvent } | { readonly lost: ClaimLost };

function claim(chains: Chains, chain: Chain, claimed: Draft<"call.claimed">): ClaimOutcome {
  refuseType(claimed, claimed.type === "call.claimed");
  const call = chain.calls.get(claimed.body.call);
  const { approval, grant } = answerSources(call);
  const lost = claimLoss(claimed.body, {
    call,
    approval: approval === undefined ? undefined : chains.approvals.get(approval),
    grant: grant === undefined ? undefined : chains.grants.get(grant),
    policySeq: chain.policySeq,
    now: grant === undefined ? "" : chains.now(),
    durable: false,
  });
  if (lost !== undefined) return { lost };
  const won = placeEvent(chains, chain, claimed);
  applyEvent(chains, won, chain);
  keepEvent(chains, chain, won);
  return { won };
}

type AnswerOutcome = { readonly won: readonly LedgerEvent[] } | { readonly lost: LedgerEvent };

function answer(chains: Chains, drafts: readonly SharedDraft[]): AnswerOutcome {
  if (drafts.length === 0) throw new LedgerError("event_invalid", "An answer needs at least one event.");
  const now = chains.now();
  const shared = chainOf(chains, SHARED);
  const answered = writeTogether(chains, drafts.length, (): AnswerOutcome => {
    const won: LedgerEvent[] = [];
    for (const draft of drafts) {
      refuseType(draft, isAnswerable(draft.type));
      const lost = findWinner(chains, draft, now);
      if (lost) {
        rollBack(chains);
        return { lost };
      }
      const event = placeEvent(chains, shared, draft, won.length);
      applyEvent(chains, event, chainOf(chains, namedSession(event) ?? SHARED));
      won.push(event);
    }
    return { won };
  });
  if ("won" in answered) for (const event of answered.won) keepAnswer(chains, shared, event);
  return answered;
}

function keepAnswer(chains: Chains, shared: Chain, event: LedgerEvent): void {
  keepEvent(chains, shared, event);
  const named = namedSession(event);
  if (named !== undefined) chainOf(chains, named).named.push(event);
}

/** The recorded event that prevents this one. Throws if there is nothing this event could be about. */
function findWinner(chains: Chains, draft: SharedDraft, now: string): LedgerEvent | undefined {
  if (!isContested(draft)) return undefined;
  const id = subject(draft.body);
  const refused =
    answerRefusal(chains.approvals.get(id), draft, now) ??
    grantRefusal(chains.grants.get(id), draft, now) ??
    proposalRefusal(chains.proposals.get(id), draft) ??
    questionRefusal(chains.questions.get(id), draft);
  if (refused === undefined) return undefined;
  const winner = refused === "too_late" ? chains.newest.get(id) : undefined;
  if (winner) return winner;
  const type = refused === "too_late" ? "store_corrupt" : refused;
  throw new LedgerError(type, `${draft.type} of '${id}' cannot be stored: ${type}.`, { id });
}

function subject(body: ContestedDraft["body"]): string {
  if ("grant" in body) return body.grant;
  if ("proposal" in body) return body.proposal;
  return "question" in body ? body.question : body.approval;
}

/** The subscribers, each with its own position. */
export type Followers = {
  readonly add: (next: EventReader, sink: (event: StoredEvent) => void) => Subscription;
  /** Something was written. */
  readonly wake: () => void;
  readonly clear: () => void;
};

/** Delivers after each write, so that a sink may append. */
function makeFollowers(): Followers {
  const following = new Map<EventReader, (event: StoredEvent) => void>();
  let due = false;
  const deliver = (): void => {
    due = false;
    for (const [next, sink] of following) {
      for (let event = next(Number.POSITIVE_INFINITY); event && following.has(next); event = next(Number.POSITIVE_INFINITY))
        tell(sink, event);
    }
  };
  const wake = (): void => {
    if (due || following.size === 0) return;
    due = true;
    queueMicrotask(deliver);
  };
  return {
    add: (next, sink) => {
      following.set(next, sink);
      wake();
      return { close: () => following.delete(next) };
    },
    wake,
    clear: () => following.clear(),
  };
}

function tell(sink: (event: StoredEvent) => void, event: LedgerEvent): void {
  try {
    sink(event);
  } catch {
    // the port requires that a throwing sink ends neither its subscription nor a write
  }
}
