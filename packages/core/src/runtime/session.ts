import type { ClaimLost, Durability, Lease, Ledger, Subscription } from "../ledger-port.ts";
import { LedgerError } from "../ledger-port.ts";
import { type Draft, type EventBodies, type EventType, type Holder, type LedgerEvent, SHARED, type StoredEvent } from "../model/events.ts";
import { emptySession, fold, type SessionState } from "../model/fold.ts";
import { knownEvent, naming } from "../model/known-event.ts";
import { fromSnapshot, toSnapshot } from "../model/snapshot.ts";
import type { Clock, Ids } from "../ports.ts";
import type { Maybe } from "../tool-definition.ts";

/** What a session stands on. */
export type SessionPorts = { readonly ledger: Ledger; readonly clock: Clock; readonly ids: Ids };

/** A new session's first record; what is left out has a plain default. */
export type NewSession = Pick<EventBodies["session.created"], "cwd"> & Partial<EventBodies["session.created"]>;

/** A new session, or an existing one's id. */
export type SessionOptions =
  | { readonly holder: Holder; readonly create: NewSession }
  | { readonly holder: Holder; readonly id: string; readonly takeOver?: boolean };

/** A session that this process writes: its lease, and the live fold over its events. */
export type Session = {
  readonly id: string;
  readonly ledger: Ledger;
  readonly holder: Holder;
  readonly state: SessionState;
  /** True until the record of whoever held the session before was put in order. */
  readonly needsRecovery: boolean;
  /** A draft of one event, dated now. */
  readonly draft: <T extends EventType>(type: T, body: EventBodies[T]) => Draft<T>;
  /** Appends and folds; resolves after the commit. */
  readonly record: (events: readonly Draft[], durability: Durability) => Promise<readonly LedgerEvent[]>;
  readonly claim: (claimed: Draft<"call.claimed">) => Promise<{ readonly won: LedgerEvent } | { readonly lost: ClaimLost }>;
  /** Calls `changed` after every event of the shared chain that may concern an open call, until it is closed. */
  readonly watch: (changed: (event: LedgerEvent) => void) => Subscription;
  /** Folds what other processes said since; for a session that was not watching. */
  readonly refresh: () => Promise<void>;
  /** Resolves when every event up to this position that names the session is folded. Only while watching. */
  readonly caughtUp: (pos: number) => Promise<void>;
  readonly close: (reason: EventBodies["session.closed"]["reason"], exit: number) => Promise<void>;
};

const SNAPSHOT_EVERY = 1_000;

/** Creates a session, or opens an existing one for writing. `session_not_found` and `session_in_use` are `LedgerError`s. */
export async function openSession(ports: SessionPorts, options: SessionOptions): Promise<Session> {
  const creating = "create" in options;
  const id = creating ? ports.ids.next("s_") : options.id;
  if (!creating) await refuseUnknown(ports.ledger, id);
  const lease = await ports.ledger.acquire(id, options.holder, !creating && options.takeOver === true);
  const state = creating ? emptySession() : await load(ports.ledger, id);
  if (creating) state.shared = await ports.ledger.head();
  const session = makeSession(ports, { id, lease, state, holder: options.holder });
  if (creating) {
    const events = [
      session.draft("session.created", newSession(options.holder, options.create)),
      session.draft("session.opened", { ...options.holder, recovered: [] }),
    ];
    await session.record(events, "normal");
  }
  return session;
}

function newSession({ door }: Holder, create: NewSession): EventBodies["session.created"] {
  const nothing = { model: null, version: "", parent: null, agent: null, policy: "", title: "" };
  return { ...nothing, workspace: create.cwd, door, mode: "default", ...create };
}

async function refuseUnknown(ledger: Ledger, id: string): Promise<void> {
  const [row] = await ledger.pending("sessions", { prefix: id, all: true, limit: 1 });
  if (row?.id !== id) throw new LedgerError("session_not_found", `There is no session '${id}'. See: assent sessions`, { session: id });
}

/** The newest usable snapshot and what came after it, both chains in the order of the store. */
async function load(ledger: Ledger, id: string): Promise<SessionState> {
  const pos = await ledger.head();
  const snapshot = await ledger.latest(id);
  const state = (snapshot && fromSnapshot(snapshot.state)) ?? emptySession();
  const shared: StoredEvent[] = [];
  for await (const stored of ledger.read({ pos: state.shared }, { naming: id })) shared.push(stored);
  for await (const stored of ledger.read({ session: id, seq: state.seq }, { session: id })) {
    for (let first = shared[0]; first && first.pos < stored.pos; first = shared[0]) {
      foldStored(state, first);
      shared.shift();
    }
    foldStored(state, stored);
  }
  for (const stored of shared) foldStored(state, stored);
  state.shared = Math.max(state.shared, pos);
  return state;
}

function foldStored(state: SessionState, stored: StoredEvent): LedgerEvent {
  const event = knownEvent(stored);
  if (!event) {
    const what = `Session ${stored.session} holds an event of type ${stored.type} version ${stored.v}, written by a newer Assent.`;
    throw new LedgerError("store_newer", `${what} Open it with that version.`, { session: stored.session, seq: stored.seq });
  }
  fold(state, event);
  return event;
}

type Opened = { readonly id: string; readonly lease: Lease; readonly state: SessionState; readonly holder: Holder };

function makeSession({ ledger, clock }: SessionPorts, { id, lease, state, holder }: Opened): Session {
  const link: Link = { failure: undefined, underWay: 0, held: [], take: () => undefined };
  const writer = makeWriter({ ledger, lease, state, link });
  const shared = makeShared({ ledger, id, state, link });
  const stamp = makeStamp(clock);
  const draft: Session["draft"] = (type, body) => ({ type, v: 1, at: stamp(), body }) as never;
  return {
    id,
    ledger,
    holder,
    state,
    needsRecovery: lease.head > 0,
    draft,
    record: writer.record,
    claim: writer.claim,
    watch: shared.watch,
    refresh: shared.refresh,
    caughtUp: shared.caughtUp,
    close: async (reason, exit) => {
      await writer.record([draft("session.closed", { reason, exit })], "full");
      if (ledger.durable) await ledger.snapshot(id, state.seq, toSnapshot(state));
    },
  };
}

/**
 * What writing and following share. `failure` is set when the shared chain held what no state allows: nothing more is written on top of it.
 * While own writes are under way, shared events wait in `held`: they may answer what is committed but not folded yet.
 */
type Link = { failure: unknown; underWay: number; readonly held: StoredEvent[]; take: (stored: StoredEvent) => void };

/** The present as ISO 8601, formatted once per millisecond. */
function makeStamp(clock: Clock): () => string {
  let last = Number.NaN;
  let text = "";
  return () => {
    const now = clock.now();
    if (now !== last) {
      last = now;
      text = new Date(now).toISOString();
    }
    return text;
  };
}

type WriterOn = { readonly ledger: Ledger; readonly lease: Lease; readonly state: SessionState; readonly link: Link };

/** Numbers what is issued, folds what is committed. After a failure the count starts again from what is on disk. */
function makeWriter({ ledger, lease, state, link }: WriterOn): Pick<Session, "record" | "claim"> {
  let issued = lease.head;
  let saved = state.seq;
  const issue = (count: number): number => {
    const expected = issued;
    issued += count;
    link.underWay += 1;
    return expected;
  };
  const settle = (): void => {
    link.underWay -= 1;
    if (link.underWay > 0) return;
    issued = state.seq;
    for (const stored of link.held.splice(0)) link.take(stored);
  };
  const failed = (error: unknown): never => {
    settle();
    throw error;
  };
  const inOrder = makeOrder(state, settle);
  const stored = (events: readonly LedgerEvent[]): Maybe<readonly LedgerEvent[]> => {
    const folded = inOrder(events, events);
    const due = ledger.durable && state.seq - saved >= Math.max(SNAPSHOT_EVERY, state.ids.size); // amortised: a longer state is kept less often
    return due ? keep(events) : folded;
  };
  const keep = async (events: readonly LedgerEvent[]): Promise<readonly LedgerEvent[]> => {
    saved = state.seq;
    await ledger.snapshot(lease.session, state.seq, toSnapshot(state));
    return events;
  };
  const claimed = (answer: Claim): Maybe<Claim> => {
    if ("won" in answer) return inOrder([answer.won], answer);
    settle();
    return answer;
  };
  /** A ledger that throws at once is one that rejects. */
  const write = <T>(count: number, store: (expected: number) => Promise<T>): Promise<T> => {
    if (link.failure !== undefined) return Promise.reject(link.failure);
    const expected = issue(count);
    try {
      return store(expected);
    } catch (error) {
      settle();
      return Promise.reject(error);
    }
  };
  return {
    record: (events, durability) => write(events.length, (at) => ledger.append(lease, at, { events, durability }).then(stored, failed)),
    claim: (claim) => write(1, (at) => ledger.claim(lease, at, claim).then(claimed, failed)),
  };
}

/** Folds writes in the order of the chain, in which a ledger need not tell of them. */
function makeOrder(state: SessionState, settle: () => void): <T>(events: readonly LedgerEvent[], value: T) => Maybe<T> {
  const early = new Map<number, () => void>();
  const foldNow = (events: readonly LedgerEvent[]): void => {
    for (const event of events) fold(state, event);
    settle();
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
    return new Promise((resolve) => {
      early.set(first, () => {
        foldNow(events);
        resolve(value);
      });
    });
  };
}

type Claim = Awaited<ReturnType<Session["claim"]>>;

type SharedOn = { readonly ledger: Ledger; readonly id: string; readonly state: SessionState; readonly link: Link };

/** Follows the shared chain, only while somebody waits; the one path by which answers of any process reach the state. */
function makeShared({ ledger, id, state, link }: SharedOn): Pick<Session, "watch" | "caughtUp" | "refresh"> {
  let subscription: Subscription | undefined;
  const sinks = new Set<(event: LedgerEvent) => void>();
  const waiters = new Set<{ readonly pos: number; readonly resolve: () => void }>();
  const foldNaming = (event: LedgerEvent | undefined): void => {
    try {
      if (event && naming(event) === id) fold(state, event);
    } catch (error) {
      link.failure = error;
    }
  };
  const take = (stored: StoredEvent): void => {
    if (stored.pos <= state.shared) return;
    const event = knownEvent(stored);
    foldNaming(event);
    state.shared = stored.pos;
    for (const waiter of [...waiters].filter(({ pos }) => pos <= stored.pos)) {
      waiters.delete(waiter);
      waiter.resolve();
    }
    if (event) for (const sink of sinks) sink(event);
  };
  link.take = take;
  const receive = (stored: StoredEvent): void => {
    if (link.underWay > 0) link.held.push(stored);
    else take(stored);
  };
  return {
    watch: (changed) => {
      sinks.add(changed);
      const types = ["approval.answered", "approval.closed", "grant.created", "grant.revoked"];
      subscription ??= ledger.subscribe({ pos: state.shared }, { session: SHARED, types }, receive);
      return {
        close: () => {
          sinks.delete(changed);
          if (sinks.size > 0) return;
          subscription?.close();
          subscription = undefined;
        },
      };
    },
    refresh: async () => {
      for await (const stored of ledger.read({ pos: state.shared }, { naming: id })) receive(stored);
    },
    caughtUp: (pos) => {
      if (pos <= state.shared) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      waiters.add({ pos, resolve });
      return promise;
    },
  };
}
