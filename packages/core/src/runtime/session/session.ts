import { type Lease, type Ledger, LedgerError } from "../../ledger-port.ts";
import type { Draft, EventBodies, EventType, LedgerEvent, StoredEvent } from "../../model/events.ts";
import { emptySession, fold, type SessionState } from "../../model/fold.ts";
import type { Holder } from "../../model/holder.ts";
import { parseEvent } from "../../model/known-event.ts";
import { fromSnapshot, toSnapshot } from "../../model/snapshot.ts";
import type { Clock, Ids } from "../../ports.ts";
import { acquireSession } from "./acquire.ts";
import { makeFollower, type SessionFollower, type SessionLink } from "./following.ts";
import { readRow } from "./list-rows.ts";
import { makeStamp } from "./stamp.ts";
import { makeWriter, type SessionWriter } from "./writing.ts";

/** The ports for opening a session. */
export type SessionPorts = {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Ends a holder's process; false if it must not or cannot. */
  readonly endHolder?: (holder: Holder) => Promise<boolean>;
};

/** The first record of a new session. */
export type NewSession = Pick<EventBodies["session.created"], "cwd"> & Partial<EventBodies["session.created"]>;

/** Creates a session, or opens an existing one. One whose calls another agent runs opens only with `runElsewhere`. */
export type SessionOptions =
  | { readonly holder: Holder; readonly create: NewSession }
  | { readonly holder: Holder; readonly id: string; readonly takeOver?: boolean; readonly runElsewhere?: true };

/** A session that this process writes. */
export type Session = SessionWriter &
  SessionFollower & {
    readonly id: string;
    readonly ledger: Ledger;
    readonly holder: Holder;
    readonly state: SessionState;
    readonly draft: <T extends EventType>(type: T, body: EventBodies[T]) => Draft<T>;
    /** Prevents a takeover while `act` runs. */
    readonly whileHeld: <T>(act: () => Promise<T>) => Promise<T>;
    readonly hold: () => Promise<() => void>;
    /** Rejects with `stale_writer` after a takeover. */
    readonly confirm: () => Promise<void>;
    readonly endHolder: SessionPorts["endHolder"];
    /** Calls `act` before the session closes. */
    readonly onClose: (act: () => Promise<void>) => void;
    readonly close: (reason: EventBodies["session.closed"]["reason"], exit: number) => Promise<void>;
  };

/** Creates a session or opens an existing one for writing. Rejects with `LedgerError`. */
export async function openSession(ports: SessionPorts, options: SessionOptions): Promise<Session> {
  const creating = "create" in options;
  const id = creating ? ports.ids.next("s_") : options.id;
  if (!creating) await checkOpenable(ports.ledger, id, options.runElsewhere === true);
  const takeOver = !creating && options.takeOver === true;
  const lease = await acquireSession(ports, id, { holder: options.holder, takeOver });
  const state = creating ? emptySession() : await readSessionState(ports.ledger, id);
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

async function checkOpenable(ledger: Ledger, id: string, runElsewhere: boolean): Promise<void> {
  const row = await readRow(ledger, "sessions", id);
  if (!row) throw new LedgerError("session_not_found", `There is no session '${id}'.`, { session: id });
  if (!row.group || runElsewhere) return;
  const { title } = row.group;
  throw new LedgerError("session_run_elsewhere", `The call of session '${id}' is run by ${title}, which continues by itself.`, {
    session: id,
  });
}

/** Rebuilds a session's state from its newest usable snapshot and the later events. Another process may write meanwhile. */
export async function readSessionState(ledger: Ledger, id: string): Promise<SessionState> {
  const snapshot = await ledger.latest(id);
  const pos = await ledger.head(); // both chains are read up to here: a later claim may use an answer that was not read
  const state = (snapshot && fromSnapshot(snapshot.state)) ?? emptySession();
  const shared: StoredEvent[] = [];
  for await (const stored of ledger.read({ pos: state.shared }, { naming: id })) if (stored.pos <= pos) shared.push(stored);
  for await (const stored of ledger.read({ session: id, seq: state.seq }, { session: id })) {
    if (stored.pos > pos) break;
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
  const event = parseEvent(stored);
  if (!event) {
    const what = `Session ${stored.session} holds an event of type ${stored.type} version ${stored.v}, written by a newer Assent.`;
    throw new LedgerError("store_newer", `${what} Open it with that version.`, { session: stored.session, seq: stored.seq });
  }
  fold(state, event);
  return event;
}

type OpenedSession = { readonly id: string; readonly lease: Lease; readonly state: SessionState; readonly holder: Holder };

function makeSession({ ledger, clock, endHolder }: SessionPorts, { id, lease, state, holder }: OpenedSession): Session {
  const link: SessionLink = {
    failure: undefined,
    underWay: 0,
    held: [],
    foldShared: () => undefined,
    catchUp: () => Promise.resolve(),
    watched: false,
    listeners: new Set(),
  };
  const writer = makeWriter({ ledger, lease, state, link });
  const follower = makeFollower(ledger, id, state, link);
  const stamp = makeStamp();
  const closing: (() => Promise<void>)[] = [];
  const isClosed = (): LedgerError =>
    new LedgerError("stale_writer", `Session ${id} is closed. Open it again to continue.`, { session: id });
  const draft: Session["draft"] = (type, body) => ({ type, v: 1, at: stamp(clock.now()), body }) as never;
  const hold = (): Promise<() => void> => ledger.hold(lease);
  return {
    id,
    ledger,
    holder,
    state,
    draft,
    ...writer,
    ...follower,
    whileHeld: async (act) => {
      if (!ledger.durable) return await act();
      const release = await hold();
      try {
        return await act();
      } finally {
        release();
      }
    },
    hold,
    endHolder,
    confirm: async () => {
      if (ledger.durable) await writer.record([], "normal");
    },
    onClose: (act) => void closing.push(act),
    close: async (reason, exit) => {
      for (const act of closing.splice(0)) await act();
      await writer.record([draft("session.closed", { reason, exit })], "full");
      if (ledger.durable) await ledger.snapshot(id, state.seq, toSnapshot(state));
      link.failure ??= isClosed;
    },
  };
}
