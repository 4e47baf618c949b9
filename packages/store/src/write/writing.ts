import { callOf, type Draft, IllegalEvent, type JsonObject, knownEvent, LedgerError, type LedgerEvent, naming, SHARED } from "@assent/core";
import { type Database, query } from "../database/database.ts";
import { applyEvent, type ChainedEvent } from "../rows/lists.ts";
import { makeUndoable, newChain, type Rows } from "../rows/rows.ts";
import { makeStoredRows } from "../rows/stored-rows.ts";
import { type StoredBody, storedBody } from "./blobs.ts";
import { chainHash } from "./chain.ts";

/** An event ready to be stored: checked, in canonical form, cut to size. `lent` are contents it names that must be stored already. */
export type PreparedEvent = { readonly type: Draft["type"]; readonly at: string; readonly lent: readonly string[] } & StoredBody;

const NOTHING: readonly string[] = [];

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Checks a draft and takes its canonical text. The body itself is kept by reference: whoever appends must not change it. */
export function prepareEvent({ type, v, at, body }: Draft, belongs: (type: string) => boolean): PreparedEvent {
  if (v !== 1 || !belongs(type)) throw new LedgerError("event_invalid", `An event of type ${type} cannot be stored this way.`, { type });
  if (!TIME.test(at)) throw new LedgerError("event_invalid", `'${at}' is no time in UTC with milliseconds.`, { type });
  // Parsing: canonical JSON refuses whatever in a body is no JSON.
  return { type, at, lent: NOTHING, ...storedBody(type, body as unknown as JsonObject) };
}

/** Events and rows of one transaction after the other. */
export type TransactionWriter = {
  /** The rows as the transaction sees them, with what is staged. */
  readonly rows: Rows;
  /** Puts an event at the end of a chain. Throws `event_invalid` for one that the rows do not allow, `blob_missing` where a content is not there. */
  readonly stage: (session: string, epoch: number, event: PreparedEvent) => LedgerEvent;
  /** Stores what one operation staged. */
  readonly keep: () => void;
  /** Forgets what one operation staged. */
  readonly drop: () => void;
  /** Starts a transaction: rows remembered from the last one count only if nobody else wrote since. */
  readonly begin: () => void;
  /**
   * Starts a transaction on the rows remembered from the last one, without looking. Whoever else wrote has taken the next position, so storing then fails
   * with a constraint; where nothing was stored, ask `isOutdated`. Either way the transaction is to be rolled back and begun again.
   */
  readonly resume: () => void;
  readonly isOutdated: () => boolean;
  /** The next event gets a position after this one, though none is there any more. */
  readonly startAfter: (pos: number) => void;
  /** Writes the rows; to be called before COMMIT. Returns the bytes of what was stored. `everything`: also heads that may lag behind. */
  readonly flush: (everything?: boolean) => number;
  /** Forgets everything after a ROLLBACK. */
  readonly reset: () => void;
  /** Position of the newest event, staged ones included. */
  readonly head: () => number;
};

type StagedEvent = { readonly event: ChainedEvent } & Pick<PreparedEvent, "text" | "blobs" | "lent">;

/** The one way into the tables of a store. */
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
      staged.push({ event, text: prepared.text, blobs: prepared.blobs, lent: prepared.lent });
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
  /** Nobody else wrote since it was loaded. */
  readonly isCurrent: () => boolean;
};

/** The position of the newest event, as this connection knows it. */
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
  const known = knownEvent(event);
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
  const insert = query(
    database,
    `insert into events (pos, session, seq, epoch, at, type, v, body, prev, hash, call, naming)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const insertBlob = query(
    database, // one that was damaged is mended by the way
    "insert into blobs (sha, bytes) values (?, ?) on conflict (sha) do update set bytes = excluded.bytes where bytes <> excluded.bytes",
  );
  const insertUse = query(database, "insert into blob_uses (session, sha) values (?, ?) on conflict do nothing");
  return ({ event, text, blobs, lent }) => {
    const { pos, session, seq, epoch, at, type, v, prev, hash } = event;
    const named = session === SHARED ? (naming(event) ?? null) : null;
    insert.run(pos, session, seq, epoch, at, type, v, text, prev, hash, callOf(event) ?? null, named);
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
