import { andThen } from "../../and-then.ts";
import { type ClaimLost, type Durability, type Lease, type Ledger, LedgerError } from "../../ledger-port.ts";
import { isAsked } from "../../model/call.ts";
import type { Draft, LedgerEvent } from "../../model/events.ts";
import { type CallChange, foldKnown, type SessionState } from "../../model/fold.ts";
import { toSnapshot } from "../../model/snapshot.ts";
import type { Maybe } from "../../tool-definition.ts";
import { atOnce } from "../memory-ledger/ledger.ts";
import type { Link } from "./link.ts";

/** How a session writes its own chain. */
export type SessionWriter = {
  /** Appends and folds; resolves after the commit. `blobs` are contents that the events name by their SHA-256. */
  readonly record: (events: readonly Draft[], durability: Durability, blobs?: readonly Uint8Array[]) => Promise<readonly LedgerEvent[]>;
  /** The same, without a promise where the commit waits for nothing. It never throws: what fails is a promise that rejects. */
  readonly write: (events: readonly Draft[], durability: Durability) => Maybe<readonly LedgerEvent[]>;
  /** The same for one event, for whoever needs no more than that it is written. */
  readonly writeOne: (event: Draft, durability: Durability) => Maybe<unknown>;
  readonly claim: (claimed: Draft<"call.claimed">) => Maybe<Claim>;
};

type Claim = { readonly won: LedgerEvent } | { readonly lost: ClaimLost };
type WriterOn = { readonly ledger: Ledger; readonly lease: Lease; readonly state: SessionState; readonly link: Link };

const SNAPSHOT_EVERY = 1_000;

/** Numbers what is issued, folds what is committed. */
export function makeWriter(on: WriterOn): SessionWriter {
  const { ledger, lease } = on;
  const { issue, take, settle, isIdle } = makeIssuing(on);
  const keep = makeKeeping(on);
  const { inOrder, foldNow, foldOne } = makeOrder(on);
  const direct = atOnce(ledger);
  const opened = direct?.open(lease);
  const stored = (events: readonly LedgerEvent[]): Maybe<readonly LedgerEvent[]> => {
    const done = inOrder(events, events);
    if (!ledger.durable) return done;
    return andThen(done, keep);
  };
  const claimed = (answer: Claim): Maybe<Claim> => ("won" in answer ? inOrder([answer.won], answer) : answer);
  const append: SessionWriter["record"] = (events, durability, blobs) =>
    issue(events.length, (at) => ledger.append(lease, at, blobs ? { events, durability, blobs } : { events, durability }).then(stored));
  // While idle nothing of ours or of others comes before what is written: it is folded as soon as it is stored.
  const write: SessionWriter["write"] = (events, durability) => {
    if (!(opened && direct?.isFree() && isIdle()) || endsAsked(on.state, events)) return append(events, durability);
    const at = take(events.length);
    try {
      const written = opened.append(at, events);
      foldNow(written);
      return written;
    } catch (error) {
      return Promise.reject(error);
    } finally {
      settle();
    }
  };
  const writeOne: SessionWriter["writeOne"] = (event, durability) => {
    if (!(opened && direct?.isFree() && isIdle()) || endsAskedOne(on.state, event)) return append([event], durability);
    const at = take(1);
    try {
      foldOne(opened.appendOne(at, event), opened.changed);
      return undefined;
    } catch (error) {
      return Promise.reject(error);
    } finally {
      settle();
    }
  };
  const claim: SessionWriter["claim"] = (intent) => {
    if (!(opened && direct?.isFree() && isIdle())) return issue(1, (at) => ledger.claim(lease, at, intent).then(claimed));
    const at = take(1);
    try {
      const answer = opened.claim(at, intent);
      if ("won" in answer) foldOne(answer.won, opened.changed);
      return answer;
    } catch (error) {
      return Promise.reject(error);
    } finally {
      settle();
    }
  };
  return {
    write,
    writeOne,
    claim,
    record: (events, durability, blobs) => {
      const done = blobs ? append(events, durability, blobs) : write(events, durability);
      return done instanceof Promise ? done : Promise.resolve(done);
    },
  };
}

type Store<T> = (expected: number) => Promise<T>;

type Issuing = {
  readonly issue: <T>(count: number, store: Store<T>) => Promise<T>;
  /** Nothing of ours is under way, and what others say need not be folded first. */
  readonly isIdle: () => boolean;
  /** For a store that is done when it returns, while idle: the sequence it must find. Whoever hears of it and writes, writes behind it, until it is settled. */
  readonly take: (count: number) => number;
  readonly settle: () => void;
};

/**
 * Gives each write the sequence it must find, in one of two modes.
 * *At once*: a write is issued when it comes, numbered behind those under way. A failure leaves a gap that what was issued behind it runs into: it leads to
 * *one by one*: once nothing is under way, the writes that ran into the gap, and new ones behind them, are issued singly in their first order. We are the only
 * writer of the chain, so a conflict now is a real one and is told. When none is left, writes are issued at once again.
 */
function makeIssuing({ lease, state, link }: WriterOn): Issuing {
  let issued = lease.head;
  let order = 0;
  let mode: "at once" | "draining" | "one by one" = "at once";
  const queue: { readonly order: number; readonly write: () => Promise<void> }[] = [];
  const settle = (): void => {
    link.underWay -= 1;
    if (link.underWay > 0) return;
    issued = state.seq;
    if (link.held.length > 0) for (const stored of link.held.splice(0)) link.take(stored);
    if (mode === "draining") void oneByOne();
  };
  const oneByOne = async (): Promise<void> => {
    mode = "one by one";
    queue.sort((left, right) => left.order - right.order);
    for (let next = queue.shift(); next; next = queue.shift()) await next.write();
    mode = "at once";
  };
  const enqueue = <T>(place: number, store: Store<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const write = async (): Promise<void> => {
        link.underWay += 1;
        await begin(store, state.seq).then(resolve, reject).finally(settle);
      };
      queue.push({ order: place, write });
    });
  const failed = <T>(error: unknown, { place, store }: { readonly place: number; readonly store: Store<T> }): Promise<T> => {
    const outcome: Promise<T> = isConflict(error) ? enqueue(place, store) : Promise.reject(error);
    if (mode === "at once") mode = "draining";
    settle();
    return outcome;
  };
  const take = (count: number): number => {
    const expected = issued;
    issued += count;
    link.underWay += 1;
    return expected;
  };
  const issue = <T>(count: number, store: Store<T>): Promise<T> => {
    if (link.failure !== undefined) return refused(store, link.failure);
    order += 1;
    const place = order;
    if (mode !== "at once") return enqueue(place, store);
    const expected = take(count);
    const done = (value: T): T => {
      settle();
      return value;
    };
    return begin(store, expected).then(done, (error: unknown) => failed(error, { place, store }));
  };
  const isIdle = (): boolean => mode === "at once" && link.underWay === 0 && link.failure === undefined && !link.watched;
  return { issue, take, settle, isIdle };
}

/** No chain ends there: whoever is told to write behind it writes nothing. */
const NOWHERE = -1;

/** Nothing more is written. Where another process has taken the session over, that is why: what was not legal here answers what only that one opened. */
async function refused(store: Store<unknown>, failure: NonNullable<Link["failure"]>): Promise<never> {
  const why: unknown = await begin(store, NOWHERE).catch((error: unknown) => error);
  throw why instanceof LedgerError && why.type === "stale_writer" ? why : failure();
}

/** A ledger that throws at once is one that rejects. */
function begin<T>(store: Store<T>, expected: number): Promise<T> {
  try {
    return store(expected);
  } catch (error) {
    return Promise.reject(error);
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof LedgerError && error.type === "sequence_conflict";
}

/** A snapshot now and then: the longer the state, the longer until the next, so that its cost per event stays the same. */
function makeKeeping({ ledger, lease, state }: WriterOn): <T>(value: T) => Maybe<T> {
  let saved = state.seq;
  return (value) => {
    if (state.seq - saved < Math.max(SNAPSHOT_EVERY, state.ids.size)) return value;
    saved = state.seq;
    return ledger.snapshot(lease.session, state.seq, toSnapshot(state)).then(() => value);
  };
}

function tellListeners({ listeners }: Link, event: LedgerEvent): void {
  if (listeners.size > 0) for (const heard of listeners) heard(event);
}

/**
 * Folds writes in the order of the chain, in which a ledger need not tell of them. While somebody waits for an answer, what others said before a write is
 * folded before it: the order is that of the store, whoever was told first.
 */
function makeOrder({ state, link }: WriterOn): Order {
  const early = new Map<number, () => void>();
  const failed = (error: unknown): unknown => {
    const failure = (): unknown => error;
    link.failure = failure;
    return error;
  };
  const wakeNext = (): void => {
    const waiting = early.size > 0 ? early.get(state.seq + 1) : undefined;
    if (!waiting) return;
    early.delete(state.seq + 1);
    waiting();
  };
  const foldNow: Order["foldNow"] = (events) => {
    try {
      for (const event of events) foldKnown(state, event, undefined);
    } catch (error) {
      throw failed(error);
    }
    for (const event of events) tellListeners(link, event);
    wakeNext();
  };
  const foldOne: Order["foldOne"] = (event, known) => {
    try {
      foldKnown(state, event, known);
    } catch (error) {
      throw failed(error);
    }
    tellListeners(link, event);
    wakeNext();
  };
  const inTurn = (events: readonly LedgerEvent[]): Maybe<void> => {
    const pos = events[0]?.pos;
    if (pos === undefined || !(link.watched || endsAsked(state, events))) return foldNow(events);
    return link.catchUp(pos).then(() => foldNow(events));
  };
  const inOrder: Order["inOrder"] = (events, value) => {
    const first = events[0]?.seq ?? state.seq + 1;
    if (first === state.seq + 1) {
      const folded = inTurn(events);
      return folded instanceof Promise ? folded.then(() => value) : value;
    }
    return new Promise((resolve, reject) => {
      early.set(first, () => {
        Promise.resolve()
          .then(() => inTurn(events))
          .then(() => resolve(value), reject);
      });
    });
  };
  return { inOrder, foldNow, foldOne };
}

type Order = {
  readonly inOrder: <T>(events: readonly LedgerEvent[], value: T) => Maybe<T>;
  /** For what is known to be next. */
  readonly foldNow: (events: readonly LedgerEvent[]) => void;
  /** The same for one event, of which the ledger knows what it made of its call. */
  readonly foldOne: (event: LedgerEvent, known: CallChange) => void;
};

/** A call that asked is ended although nobody listens any more: a store failed. Somebody may have answered it just before. */
function endsAsked(state: SessionState, events: readonly Draft[]): boolean {
  for (const event of events) if (endsAskedOne(state, event)) return true;
  return false;
}

function endsAskedOne({ calls }: SessionState, event: Draft): boolean {
  return event.type === "call.ended" && isAsked(calls.get(event.body.call));
}
