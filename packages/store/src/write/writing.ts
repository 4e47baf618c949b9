import {
  type Draft,
  type EventBodies,
  type EventType,
  IllegalEvent,
  type JsonObject,
  LedgerError,
  type LedgerEvent,
  namedSession,
  parseEvent,
  SHARED,
} from "@assent/core";
import { type Database, query } from "../database/database.ts";
import { applyEvent, type ChainedEvent, indexedCall } from "../rows/lists.ts";
import { makeUndoable, newChain, type Rows } from "../rows/rows.ts";
import { makeStoredRows } from "../rows/stored-rows.ts";
import { type StoredBody, storedBody } from "./blobs.ts";
import { chainHash } from "./chain.ts";

/** `lent` are contents that must be stored already. */
export type PreparedEvent = { readonly type: Draft["type"]; readonly at: string; readonly lent: readonly string[] } & StoredBody;

const NOTHING: readonly string[] = [];

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Keeps the body by reference, so the caller must not change it. */
export function prepareEvent({ type, v, at, body }: Draft, belongs: (type: string) => boolean): PreparedEvent {
  if (v !== 1 || !belongs(type)) throw new LedgerError("event_invalid", `An event of type ${type} cannot be stored this way.`, { type });
  if (!TIME.test(at)) throw new LedgerError("event_invalid", `'${at}' is no time in UTC with milliseconds.`, { type });
  // Parsing: canonical JSON rejects a body that is not JSON.
  return { type, at, lent: NOTHING, ...storedBody(type, body as unknown as JsonObject) };
}

export function makeDraft<T extends EventType>(type: T, body: EventBodies[T], at: string): Draft<T> {
  // TypeScript does not see that one key gives one member of the union.
  return { type, v: 1, at, body } as Draft<T>;
}

export type TransactionWriter = {
  /** Includes staged changes. */
  readonly rows: Rows;
  /** Throws `event_invalid` or `blob_missing`. */
  readonly stage: (session: string, epoch: number, event: PreparedEvent) => LedgerEvent;
  readonly keep: () => void;
  readonly drop: () => void;
  /** Keeps rows in memory if no other process wrote. */
  readonly begin: () => void;
  /** Does not check for writes of other processes: after one, storing fails, or `isOutdated` is true if nothing was stored. */
  readonly resume: () => void;
  readonly isOutdated: () => boolean;
  /** The next event gets a later position, even if this event is gone. */
  readonly startAfter: (pos: number) => void;
  /** Returns the bytes stored. `everything` includes rows that may lag. */
  readonly flush: (everything?: boolean) => number;
  readonly reset: () => void;
  /** Includes staged events. */
  readonly head: () => number;
};

type StagedEvent = { readonly event: ChainedEvent; readonly call: string | null } & Pick<PreparedEvent, "text" | "blobs" | "lent">;

/** The only way to write the tables. */
export function makeTransactionWriter(database: Database, store: string): TransactionWriter {
  const stored = makeStoredRows(database);
  const rows = makeUndoable(stored);
  const insert = makeEventInsert(database);
  const refuseMissing = makeContentCheck(database);
  const head = makeHeadTracker(database);
  let bytes = 0;
  let kept = 0;
  let staged: StagedEvent[] = [];
  const drop = (): void => {
    rows.drop();
    staged = [];
  };
  const reset = (): void => {
    drop();
    stored.clear();
    bytes = 0;
    head.forget();
  };
  const begin = (): void => {
    if (head.isCurrent()) return;
    reset();
    head.load();
  };
  return {
    rows,
    stage: (session, epoch, prepared) => {
      const pos = head.pos() + staged.length + 1;
      const { seq, hash } = rows.chains.get(session) ?? newChain(session, pos);
      const event = chainEvent({ store, session, seq: seq + 1, epoch, prev: hash, pos }, prepared);
      for (const sha of prepared.lent) refuseMissing(sha);
      const known = applyToRows(rows, event);
      staged.push({ event, call: indexedCall(rows, event), text: prepared.text, blobs: prepared.blobs, lent: prepared.lent });
      return known;
    },
    keep: () => {
      rows.keep();
      for (const one of staged) bytes += insert(one);
      head.moveTo(head.pos() + staged.length);
      kept += staged.length;
      staged = [];
    },
    drop,
    begin,
    resume: () => {
      kept = 0;
      if (!head.isLoaded()) begin();
    },
    isOutdated: () => kept === 0 && !head.isCurrent(),
    startAfter: (pos) => head.moveTo(Math.max(head.pos(), pos)),
    flush: (everything = false) => {
      const written = bytes;
      bytes = 0;
      stored.flush(everything);
      return written;
    },
    reset,
    head: () => head.pos() + staged.length,
  };
}

type HeadTracker = {
  readonly pos: () => number;
  readonly moveTo: (pos: number) => void;
  readonly load: () => void;
  readonly forget: () => void;
  readonly isLoaded: () => boolean;
  /** No other process wrote since it was loaded. */
  readonly isCurrent: () => boolean;
};

function makeHeadTracker(database: Database): HeadTracker {
  const newest = query<{ pos: number | null }>(database, "select max(pos) as pos from events");
  const version = query<{ data_version: number }>(database, "pragma data_version");
  let seen: number | undefined;
  let pos = 0;
  return {
    pos: () => pos,
    moveTo: (to) => {
      pos = to;
    },
    load: () => {
      seen = version.get()?.data_version;
      pos = newest.get()?.pos ?? 0;
    },
    forget: () => {
      seen = undefined;
    },
    isLoaded: () => seen !== undefined,
    isCurrent: () => seen !== undefined && version.get()?.data_version === seen,
  };
}

type EventPlace = {
  readonly store: string;
  readonly session: string;
  readonly seq: number;
  readonly epoch: number;
  readonly prev: string;
  readonly pos: number;
};

function chainEvent({ store, session, seq, epoch, prev, pos }: EventPlace, { type, at, body, text }: PreparedEvent): ChainedEvent {
  const hash = chainHash({ store, session, seq, epoch, at, type, v: 1, body: text, prev });
  return { type, v: 1, at, body, session, seq, pos, epoch, prev, hash };
}

function applyToRows(rows: Rows, event: ChainedEvent): LedgerEvent {
  const known = parseEvent(event);
  if (!known) throw new LedgerError("event_invalid", `There is no event of type ${event.type}.`, { type: event.type });
  try {
    applyEvent(rows, event);
  } catch (error) {
    if (!(error instanceof IllegalEvent)) throw error;
    throw new LedgerError("event_invalid", error.message, { type: error.type, state: error.state });
  }
  return known;
}

function makeEventInsert(database: Database): (staged: StagedEvent) => number {
  const columns = "pos, session, seq, epoch, at, type, v, body, prev, hash, call";
  const insert = query(database, `insert into events (${columns}) values (?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?)`);
  const insertShared = query(database, `insert into events (${columns}, naming) values (?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?)`);
  const insertBlob = query(
    database, // repairs a damaged blob
    "insert into blobs (sha, bytes) values (?, ?) on conflict (sha) do update set bytes = excluded.bytes where bytes <> excluded.bytes",
  );
  const insertUse = query(database, "insert into blob_uses (session, sha) values (?, ?) on conflict do nothing");
  return ({ event, call, text, blobs, lent }) => {
    const { pos, session, seq, epoch, at, type, prev, hash } = event;
    if (session !== SHARED) insert.run(pos, session, seq, epoch, at, type, text, prev, hash, call);
    else insertShared.run(pos, session, seq, epoch, at, type, text, prev, hash, call, namedSession(event) ?? null);
    let bytes = text.length;
    for (const blob of blobs) {
      insertBlob.run(blob.sha, blob.bytes);
      insertUse.run(session, blob.sha);
      bytes += blob.bytes.length;
    }
    for (const sha of lent) insertUse.run(session, sha);
    return bytes;
  };
}

function makeContentCheck(database: Database): (sha: string) => void {
  const select = query<{ sha: string }>(database, "select sha from blobs where sha = ?");
  return (sha) => {
    if (!select.get(sha)) throw new LedgerError("blob_missing", `The content ${sha} is named, but was not given.`, { sha });
  };
}
