import { type ApprovalRow, type GrantRow, type Holder, knownEvent, type SessionRow } from "@assent/core";
import { type Database, query } from "./database.ts";
import { EVENT_COLUMNS, type EventColumns, storedEvent } from "./event-columns.ts";
import { changeCall } from "./lists.ts";
import {
  type CachedTable,
  type CallEntry,
  type ChainEntry,
  cachedTable,
  type Listed,
  type Rows,
  splitCallKey,
  type Table,
} from "./rows.ts";
import { unlisted } from "./store-error.ts";

/** The list tables, read when asked and written back at once. */
export type StoredRows = Rows & {
  /** Writes what changed since the last call. */
  flush(): void;
  /** Forgets everything, because another process wrote or a transaction was rolled back. */
  clear(): void;
};

const KEPT_ROWS = 10_000;

/** The list tables of a database. */
export function storedRows(database: Database): StoredRows {
  const chains = chainTable(database);
  const calls = callTable(database);
  const approvals = listTable<ApprovalRow>(database, "approvals", (row) => row.state === "open");
  const grants = listTable<GrantRow>(database, "grants", (row) => row.state === "active");
  const all = [chains, calls, approvals, grants];
  return {
    chains: chains.rows,
    calls: calls.rows,
    approvals: approvals.rows,
    grants: grants.rows,
    flush: () => {
      for (const { rows, write, kept = 0 } of all) {
        for (const key of rows.changed.keys()) write(key);
        rows.changed.clear();
        if (rows.size() > kept) rows.clear();
      }
    },
    clear: () => {
      for (const { rows } of all) rows.clear();
    },
  };
}

type StoredTable<V> = {
  readonly rows: CachedTable<V>;
  readonly write: (key: string) => void;
  /** How many rows are worth their memory between transactions. */
  readonly kept?: number;
};

/** A row of `sessions` as SQLite gives it. */
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

/** The chain that a row of `sessions` holds. */
export function chainEntry({ session, seq, hash, pos, first, epoch, closed, pruned, holder, row, ...more }: ChainColumns): ChainEntry {
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
    // Parsing: both columns are written below.
    holder: holder === null ? null : (JSON.parse(holder) as Holder),
    row: row === null ? null : (JSON.parse(row) as SessionRow),
  };
}

/** A head that is not the end of its chain is never appended to. */
function chainTable(database: Database): StoredTable<ChainEntry> {
  const select = query<ChainColumns & { tail: string | null; more: number }>(
    database,
    `select s.*, e.hash as tail, exists (select 1 from events where session = s.session and seq = s.seq + 1) as more
     from sessions s left join events e on e.session = s.session and e.seq = s.seq where s.session = ?`,
  );
  const insert = query(
    database,
    `insert into sessions (session, seq, hash, pos, first, epoch, policy_seq, newest_at, closed, pruned, holder, row)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (session) do update set seq = excluded.seq, hash = excluded.hash, pos = excluded.pos, epoch = excluded.epoch,
       policy_seq = excluded.policy_seq, newest_at = excluded.newest_at, closed = excluded.closed, pruned = excluded.pruned,
       holder = excluded.holder, row = excluded.row`,
  );
  const rows = cachedTable<ChainEntry>((session) => {
    const found = select.get(session);
    if (!found) return undefined;
    const isHead = found.more === 0 && (found.seq === 0 || found.pruned === 1 || found.tail === found.hash);
    if (!isHead) throw unlisted({ session });
    return chainEntry(found);
  });
  const write = (session: string): void => {
    const chain = rows.changed.get(session);
    if (!chain) return;
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
  };
  return { rows, write, kept: KEPT_ROWS };
}

/** A call's row is folded from its own few events when it is not remembered: what a claim depends on stands in no other place than the record. */
function callTable(database: Database): StoredTable<CallEntry> {
  const proposed = query<{ seq: number; pos: number }>(
    database,
    "select seq, pos from events where session = ? and call = ? and type = 'call.proposed'",
  );
  const own = query<EventColumns>(database, `select ${EVENT_COLUMNS} from events where session = ? and seq >= ? and call = ? order by seq`);
  const named = query<EventColumns>(database, `select ${EVENT_COLUMNS} from events where naming = ? and pos > ? and call = ? order by pos`);
  const rows = cachedTable<CallEntry>((key) => {
    const { session, call } = splitCallKey(key);
    const first = proposed.get(session, call);
    if (!first) return undefined;
    const events = [...own.all(session, first.seq, call), ...named.all(session, first.pos, call)];
    return foldCall(events.sort((one, other) => one.pos - other.pos));
  });
  return { rows, write: () => undefined, kept: KEPT_ROWS };
}

function foldCall(events: readonly EventColumns[]): CallEntry | undefined {
  const calls = new Map<string, CallEntry>();
  const table: Table<CallEntry> = { get: (key) => calls.get(key), put: (key, entry) => calls.set(key, entry) };
  for (const columns of events) {
    const event = knownEvent(storedEvent(columns));
    if (event && event.type !== "grant.used") changeCall(table, "", event);
  }
  return calls.get("");
}

type ListColumns = { readonly first: number; readonly latest: number; readonly row: string };

/** An approval or a grant, as both tables have it. */
type ListRow = { readonly id: string; readonly session?: string; readonly tool: string };

function listTable<Row extends ListRow>(
  database: Database,
  table: "approvals" | "grants",
  isOpen: (row: Row) => boolean,
): StoredTable<Listed<Row>> {
  const select = query<ListColumns>(database, `select first, latest, row from ${table} where id = ?`);
  const insert = query(
    database,
    `insert into ${table} (id, first, latest, session, tool, open, row) values (?, ?, ?, ?, ?, ?, ?)
     on conflict (id) do update set latest = excluded.latest, open = excluded.open, row = excluded.row`,
  );
  const rows = cachedTable<Listed<Row>>((id) => {
    const found = select.get(id);
    // Parsing: the column is written below.
    return found && { first: found.first, latest: found.latest, row: JSON.parse(found.row) as Row };
  });
  const write = (id: string): void => {
    const listed = rows.changed.get(id);
    if (!listed) return;
    const { row, first, latest } = listed;
    insert.run(id, first, latest, row.session ?? null, row.tool, Number(isOpen(row)), JSON.stringify(row));
  };
  return { rows, write };
}
