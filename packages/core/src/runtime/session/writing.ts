import { type ClaimLost, type Durability, type Lease, type Ledger, LedgerError } from "../../ledger-port.ts";
import { isAsked } from "../../model/call.ts";
import type { Draft, LedgerEvent } from "../../model/events.ts";
import { fold, type SessionState } from "../../model/fold.ts";
import { toSnapshot } from "../../model/snapshot.ts";
import type { SessionLink } from "./following.ts";

export type SessionWriter = {
  /** Resolves after the commit. `blobs` are contents that events name by SHA-256. */
  readonly record: (events: readonly Draft[], durability: Durability, blobs?: readonly Uint8Array[]) => Promise<readonly LedgerEvent[]>;
  readonly claim: (claimed: Draft<"call.claimed">) => Promise<ClaimAnswer>;
};

type ClaimAnswer = { readonly won: LedgerEvent } | { readonly lost: ClaimLost };
type WriterPorts = { readonly ledger: Ledger; readonly lease: Lease; readonly state: SessionState; readonly link: SessionLink };

const SNAPSHOT_EVERY = 1_000;

export function makeWriter(on: WriterPorts): SessionWriter {
  const { ledger, lease } = on;
  const issue = makeIssue(on);
  return {
    record: (events, durability, blobs) => {
      const batch = blobs ? { events, durability, blobs } : { events, durability };
      return issue(events.length, { store: (at) => ledger.append(lease, at, batch), eventsOf: appendedEvents });
    },
    claim: (intent) => issue(1, { store: (at) => ledger.claim(lease, at, intent), eventsOf: claimedEvents }),
  };
}

function appendedEvents(stored: readonly LedgerEvent[]): readonly LedgerEvent[] {
  return stored;
}

function claimedEvents(answer: ClaimAnswer): readonly LedgerEvent[] {
  return "won" in answer ? [answer.won] : [];
}

type Store<T> = (expected: number) => Promise<T>;

type Write<T> = { readonly store: Store<T>; readonly eventsOf: (stored: T) => readonly LedgerEvent[] };

type Issue = <T>(count: number, write: Write<T>) => Promise<T>;

/**
 * Writes are issued *at once*, numbered behind those in flight. A failure leaves a gap, so later writes are reissued *one by one* in their
 * order; a conflict then is real.
 */
function makeIssue(on: WriterPorts): Issue {
  const { lease, state, link } = on;
  const order = makeFoldOrder(on);
  const snapshots = makeSnapshots(on);
  let issued = lease.head;
  let count = 0;
  let mode: "at once" | "draining" | "one by one" = "at once";
  const queue: { readonly place: number; readonly write: () => Promise<void> }[] = [];
  const settle = (): void => {
    link.underWay -= 1;
    if (link.underWay > 0) return;
    issued = state.seq;
    if (link.held.length > 0) for (const stored of link.held.splice(0)) link.foldShared(stored);
    if (mode === "draining") void oneByOne();
  };
  const oneByOne = async (): Promise<void> => {
    mode = "one by one";
    queue.sort((left, right) => left.place - right.place);
    for (let next = queue.shift(); next; next = queue.shift()) await next.write();
    mode = "at once";
  };
  const enqueue = <T>(place: number, write: Write<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const again = (): Promise<T> => (link.failure ? refuseWrite(write.store, link.failure) : storeAndFold(state.seq, write));
      queue.push({ place, write: () => again().then(resolve, reject) });
    });
  /** A conflict of a write with a `place` may be due to a gap, so it is issued again. */
  const storeAndFold = async <T>(expected: number, write: Write<T>, place?: number): Promise<T> => {
    link.underWay += 1;
    try {
      const stored = await write.store(expected);
      const events = write.eventsOf(stored);
      if (order.mustWait(events)) await order.wait(events);
      order.fold(events);
      if (snapshots.areDue()) await snapshots.save();
      settle();
      return stored;
    } catch (error) {
      if (isUnknown(error)) order.fail(error);
      const outcome = place !== undefined && isConflict(error) ? enqueue(place, write) : Promise.reject(error);
      if (mode === "at once") mode = "draining";
      settle();
      return await outcome;
    }
  };
  return (size, write) => {
    if (link.failure !== undefined) return refuseWrite(write.store, link.failure);
    count += 1;
    if (mode !== "at once") return enqueue(count, write);
    const expected = issued;
    issued += size;
    return storeAndFold(expected, write, count);
  };
}

/** No chain ends here, so a write behind it stores nothing. */
const NOWHERE = -1;

async function refuseWrite(store: Store<unknown>, failure: NonNullable<SessionLink["failure"]>): Promise<never> {
  const why: unknown = await store(NOWHERE).catch((error: unknown) => error);
  throw why instanceof LedgerError && why.type === "stale_writer" ? why : failure();
}

function isConflict(error: unknown): boolean {
  return error instanceof LedgerError && error.type === "sequence_conflict";
}

/** The write may be stored. What follows it cannot be folded, so the session must be opened again. */
function isUnknown(error: unknown): boolean {
  return error instanceof LedgerError && error.type === "store_unreachable";
}

/** Intervals grow with the state, so that the cost per event is constant. */
function makeSnapshots({ ledger, lease, state }: WriterPorts): { readonly areDue: () => boolean; readonly save: () => Promise<void> } {
  let saved = state.seq;
  return {
    areDue: () => ledger.durable && state.seq - saved >= Math.max(SNAPSHOT_EVERY, state.ids.size),
    save: async () => {
      saved = state.seq;
      await ledger.snapshot(lease.session, state.seq, toSnapshot(state));
    },
  };
}

type FoldOrder = {
  readonly mustWait: (events: readonly LedgerEvent[]) => boolean;
  readonly wait: (events: readonly LedgerEvent[]) => Promise<void>;
  readonly fold: (events: readonly LedgerEvent[]) => void;
  /** Refuses what waits and all later writes. */
  readonly fail: (error: unknown) => void;
};

/** Folds writes in chain order; while watching, after earlier events of other processes. */
function makeFoldOrder({ state, link }: WriterPorts): FoldOrder {
  const early = new Map<number, PromiseWithResolvers<void>>();
  const isEarly = (events: readonly LedgerEvent[]): boolean => events[0] !== undefined && events[0].seq !== state.seq + 1;
  const mustCatchUp = (events: readonly LedgerEvent[]): boolean => link.watched || events.some((event) => endsAskedCall(state, event));
  return {
    mustWait: (events) => events.length > 0 && (isEarly(events) || mustCatchUp(events)),
    wait: async (events) => {
      const [first] = events;
      if (!first) return;
      if (isEarly(events)) {
        if (link.failure) throw link.failure();
        const turn = Promise.withResolvers<void>();
        early.set(first.seq, turn);
        await turn.promise;
      }
      if (mustCatchUp(events)) await link.catchUp(first.pos);
    },
    fold: (events) => {
      try {
        for (const event of events) fold(state, event);
      } catch (error) {
        link.failure = () => error;
        throw error;
      }
      if (link.listeners.size > 0) for (const event of events) for (const heard of link.listeners) heard(event);
      if (early.size === 0) return;
      const next = early.get(state.seq + 1);
      early.delete(state.seq + 1);
      next?.resolve();
    },
    fail: (error) => {
      link.failure ??= () => error;
      for (const { reject } of early.values()) reject(error);
      early.clear();
    },
  };
}

/** After a store failure, the session may have stopped watching just before someone answered. */
function endsAskedCall({ calls }: SessionState, event: LedgerEvent): boolean {
  return event.type === "call.ended" && isAsked(calls.get(event.body.call));
}
