import { type Holder, type SessionRow, SHARED } from "@assent/core";
import { type Database, type Query, query } from "../database/database.ts";
import { listsMismatch } from "../files/store-error.ts";
import { EVENT_COLUMNS, type EventColumns, toStoredEvent } from "./event-columns.ts";
import { advanceChain } from "./lists.ts";
import { type ChainEntry, parseRow } from "./rows.ts";
import { KEPT_ROWS, makeStoredTable, type StoredTable } from "./stored-table.ts";

export type ChainColumns = {
  readonly session: string;
  readonly seq: number;
  readonly hash: string;
  readonly pos: number;
  readonly first: number;
  readonly epoch: number;
  readonly policy_seq: number;
  readonly newest_at: string;
  readonly closed: number;
  readonly pruned: number;
  readonly holder: string | null;
  readonly row: string | null;
};

/** Rows may lag by this many events, because writing one with every call would double its cost. */
const LAG = 32;

export type ChainReader = {
  readonly read: (columns: ChainColumns) => ChainEntry;
  /** Throws `store_corrupt` if the row does not belong to its chain. */
  readonly load: (session: string) => ChainEntry | undefined;
};

export function makeChainReader(database: Database): ChainReader {
  const select = query<ChainColumns & { tail: string | null }>(
    database,
    "select s.*, e.hash as tail from sessions s left join events e on e.session = s.session and e.seq = s.seq where s.session = ?",
  );
  const after = query<EventColumns>(database, `select ${EVENT_COLUMNS} from events where session = ? and seq > ? order by seq`);
  const read = (columns: ChainColumns): ChainEntry => catchUp(toChainEntry(columns), after);
  return {
    read,
    load: (session) => {
      const found = select.get(session);
      if (found && found.seq > 0 && found.pruned === 0 && found.tail !== found.hash) throw listsMismatch({ session });
      return found && read(found);
    },
  };
}

/** Throws `store_corrupt` if a column is not JSON. */
export function toChainEntry({ session, seq, hash, pos, first, epoch, closed, pruned, holder, row, ...more }: ChainColumns): ChainEntry {
  return {
    session,
    seq,
    hash,
    pos,
    first,
    epoch,
    policySeq: more.policy_seq,
    newestAt: more.newest_at,
    closed: closed === 1,
    pruned: pruned === 1,
    holder: holder === null ? null : parseRow<Holder>(holder),
    row: row === null ? null : parseRow<SessionRow>(row),
    named: 0,
  };
}

/** Events that change an approval never lag. */
function catchUp(chain: ChainEntry, after: Query<EventColumns>): ChainEntry {
  let now = chain;
  for (const columns of after.iterate(chain.session, chain.seq)) {
    if (columns.seq !== now.seq + 1 || columns.prev !== now.hash) throw listsMismatch({ session: chain.session });
    now = advanceChain(now, toStoredEvent(columns), 0);
  }
  return now;
}

export function makeChainTable(database: Database): StoredTable<ChainEntry> {
  const { load } = makeChainReader(database);
  const insert = query(
    database,
    `insert into sessions (session, seq, hash, pos, first, epoch, policy_seq, newest_at, closed, pruned, holder, row)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (session) do update set seq = excluded.seq, hash = excluded.hash, pos = excluded.pos, epoch = excluded.epoch,
       policy_seq = excluded.policy_seq, newest_at = excluded.newest_at, closed = excluded.closed, pruned = excluded.pruned,
       holder = excluded.holder, row = excluded.row`,
  );
  const written = new Map<string, ChainEntry>();
  const lagging = new Map<string, ChainEntry>();
  const write = (session: string, chain: ChainEntry, everything: boolean): void => {
    if (!everything && mayLag(written.get(session), chain)) {
      lagging.set(session, chain);
      return;
    }
    const { seq, hash, pos, first, epoch, policySeq, newestAt, closed, pruned, holder, row } = chain;
    insert.run(
      session,
      seq,
      hash,
      pos,
      first,
      epoch,
      policySeq,
      newestAt,
      Number(closed),
      Number(pruned),
      holder && JSON.stringify(holder),
      row && JSON.stringify(row),
    );
    written.set(session, chain);
    lagging.delete(session);
  };
  const table = makeStoredTable<ChainEntry>({ load, write, kept: KEPT_ROWS });
  return {
    ...table,
    flush: (everything) => {
      table.flush(everything);
      if (everything) for (const [session, chain] of lagging) write(session, chain, true);
    },
    clear: () => {
      written.clear();
      lagging.clear();
      table.clear();
    },
  };
}

function mayLag(
  written: ChainEntry | undefined,
  { session, seq, epoch, holder, closed, policySeq, pruned, row, named }: ChainEntry,
): boolean {
  if (!written || session === SHARED || seq - written.seq >= LAG) return false;
  const same = written.epoch === epoch && written.holder === holder && written.closed === closed && written.policySeq === policySeq;
  return same && written.pruned === pruned && written.named === named && isSameToOthers(written.row, row);
}

function isSameToOthers(one: SessionRow | null, other: SessionRow | null): boolean {
  return (
    one?.state === other?.state && one?.openApprovals === other?.openApprovals && one?.model === other?.model && one?.cwd === other?.cwd
  );
}
