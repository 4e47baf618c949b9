import { LedgerError, namedSession, SHARED } from "@assent/core";
import { type Database, query } from "../database/database.ts";
import { makeUndoable } from "../rows/rows.ts";
import { makeStoredRows } from "../rows/stored-rows.ts";
import { type EventStaging, makeEventStaging, type StagedEvent } from "./staging.ts";

export type TransactionWriter = EventStaging & {
  /** Keeps rows in memory if no other process wrote. */
  readonly begin: () => void;
  /** Does not check for writes of other processes: after one, storing fails, or `isOutdated` is true if nothing was stored. */
  readonly resume: () => void;
  readonly isOutdated: () => boolean;
  /** The next event gets a later position, even if this event is gone. */
  readonly startAfter: (pos: number) => void;
  /** Returns the bytes stored. `everything` includes rows that may lag. */
  readonly flush: (everything?: boolean) => number;
  /** Returns the sessions written since it was last called. */
  readonly takeSessions: () => ReadonlySet<string>;
  readonly reset: () => void;
  /** Includes staged events. */
  readonly head: () => number;
};

/** The only way to write the tables. */
export function makeTransactionWriter(database: Database, store: string): TransactionWriter {
  const stored = makeStoredRows(database);
  const insert = makeEventInsert(database);
  const head = makeHeadTracker(database);
  let bytes = 0;
  let kept = 0;
  let sessions = new Set<string>();
  const { rows, stage, keep, drop, size } = makeEventStaging({
    store,
    rows: makeUndoable(stored),
    head: head.pos,
    refuseMissing: makeContentCheck(database),
    insert: (staged) => {
      for (const one of staged) {
        bytes += insert(one);
        sessions.add(one.event.session);
      }
      head.moveTo(head.pos() + staged.length);
      kept += staged.length;
    },
  });
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
    stage,
    keep,
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
    takeSessions: () => {
      const taken = sessions;
      sessions = new Set();
      return taken;
    },
    reset,
    head: () => head.pos() + size(),
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
