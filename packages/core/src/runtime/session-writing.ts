import { type ClaimLost, type Durability, type Lease, type Ledger, LedgerError } from "../ledger-port.ts";
import type { Draft, LedgerEvent } from "../model/events.ts";
import { fold, type SessionState } from "../model/fold.ts";
import { toSnapshot } from "../model/snapshot.ts";
import type { Maybe } from "../tool-definition.ts";
import type { Link } from "./session-link.ts";

/** How a session writes its own chain. */
export type SessionWriter = {
  /** Appends and folds; resolves after the commit. */
  readonly record: (events: readonly Draft[], durability: Durability) => Promise<readonly LedgerEvent[]>;
  readonly claim: (claimed: Draft<"call.claimed">) => Promise<Claim>;
};

type Claim = { readonly won: LedgerEvent } | { readonly lost: ClaimLost };
type WriterOn = { readonly ledger: Ledger; readonly lease: Lease; readonly state: SessionState; readonly link: Link };

const SNAPSHOT_EVERY = 1_000;

/** Numbers what is issued, folds what is committed. */
export function makeWriter(on: WriterOn): SessionWriter {
  const { ledger, lease, link } = on;
  const write = makeIssuing(on);
  const keep = makeKeeping(on);
  const inOrder = makeOrder(on);
  const folded = <T>(events: readonly LedgerEvent[], value: T): Maybe<T> => {
    const pos = events[0]?.pos;
    return link.isWatching() && pos !== undefined ? link.catchUp(pos).then(() => inOrder(events, value)) : inOrder(events, value);
  };
  const stored = (events: readonly LedgerEvent[]): Maybe<readonly LedgerEvent[]> => {
    const done = folded(events, events);
    if (!ledger.durable) return done;
    return done instanceof Promise ? done.then(keep) : keep(done);
  };
  const claimed = (answer: Claim): Maybe<Claim> => ("won" in answer ? folded([answer.won], answer) : answer);
  return {
    record: (events, durability) => write(events.length, (at) => ledger.append(lease, at, { events, durability }).then(stored)),
    claim: (claim) => write(1, (at) => ledger.claim(lease, at, claim).then(claimed)),
  };
}

type Store<T> = (expected: number) => Promise<T>;

/**
 * Gives each write the sequence it must find. We are the only writer of the chain, so a conflict means that a write of ours before it failed:
 * what was issued behind that one is issued again, in the same order, and does not fail with it.
 */
function makeIssuing({ lease, state, link }: WriterOn): <T>(count: number, store: Store<T>) => Promise<T> {
  let issued = lease.head;
  let failures = 0;
  let gap = false; // a write failed, and what is issued until all is quiet expects a sequence that never came
  let again: Promise<unknown> = Promise.resolve();
  const idle: (() => void)[] = [];
  const settle = (): void => {
    link.underWay -= 1;
    if (link.underWay > 0) return;
    issued = state.seq;
    gap = false;
    if (link.held.length > 0) for (const stored of link.held.splice(0)) link.take(stored);
    if (idle.length > 0) for (const resume of idle.splice(0)) resume();
  };
  const done = <T>(value: T): T => {
    settle();
    return value;
  };
  const whenIdle = (): Promise<void> => (link.underWay === 0 ? Promise.resolve() : new Promise((resolve) => idle.push(resolve)));
  const afterFailure = async <T>(error: unknown, { before, retry }: { before: number; retry: () => Promise<T> }): Promise<T> => {
    gap = true;
    settle();
    const conflict = error instanceof LedgerError && error.type === "sequence_conflict";
    if (conflict) await whenIdle();
    else failures += 1;
    if (!conflict || failures === before) throw error;
    const retried = again.then(retry);
    again = retried.catch(() => undefined); // whoever waits for it is told
    return await retried;
  };
  return function issue<T>(count: number, store: Store<T>): Promise<T> {
    if (link.failure !== undefined) return Promise.reject(link.failure);
    const before = gap ? -1 : failures;
    const expected = issued;
    issued += count;
    link.underWay += 1;
    const failed = (error: unknown): Promise<T> => afterFailure(error, { before, retry: () => issue(count, store) });
    try {
      return store(expected).then(done, failed);
    } catch (error) {
      return failed(error); // a ledger that throws at once is one that rejects
    }
  };
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

/** Folds writes in the order of the chain, in which a ledger need not tell of them. */
function makeOrder({ state, link }: WriterOn): <T>(events: readonly LedgerEvent[], value: T) => Maybe<T> {
  const early = new Map<number, () => void>();
  const foldNow = (events: readonly LedgerEvent[]): void => {
    try {
      for (const event of events) fold(state, event);
    } catch (error) {
      link.failure = error;
      throw error;
    }
    const waiting = early.size > 0 ? early.get(state.seq + 1) : undefined;
    if (!waiting) return;
    early.delete(state.seq + 1);
    waiting();
  };
  return (events, value) => {
    const first = events[0]?.seq ?? state.seq + 1;
    if (first === state.seq + 1) {
      foldNow(events);
      return value;
    }
    return new Promise((resolve, reject) => {
      early.set(first, () => {
        try {
          foldNow(events);
          resolve(value);
        } catch (error) {
          reject(error);
        }
      });
    });
  };
}
