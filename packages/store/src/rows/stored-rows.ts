import { type Database, query } from "../database/database.ts";
import { makeCallEventReader } from "./call-events.ts";
import { EVENT_COLUMNS, type EventColumns } from "./event-columns.ts";
import { foldCall } from "./fold-call.ts";
import { type CallEntry, IS_OPEN, type ListEntry, type ListRows, parseRow, type Rows, SEARCH_COLUMN, splitCallKey } from "./rows.ts";
import { makeChainTable } from "./stored-chains.ts";
import { KEPT_ROWS, makeStoredTable, type StoredTable } from "./stored-table.ts";

export type StoredRows = Rows & {
  /** `everything` includes rows that may lag. */
  flush(everything?: boolean): void;
  /** Call it after a rollback or a write of another process. */
  clear(): void;
};

export function makeStoredRows(database: Database): StoredRows {
  const chains = makeChainTable(database);
  const calls = makeCallTable(database);
  const approvals = makeListTable(database, "approvals");
  const grants = makeListTable(database, "grants");
  const proposals = makeListTable(database, "proposals");
  const questions = makeListTable(database, "questions");
  const all = [chains, calls, approvals, grants, proposals, questions];
  return {
    chains,
    calls,
    approvals,
    grants,
    proposals,
    questions,
    flush: (everything = false) => {
      for (const table of all) table.flush(everything);
    },
    clear: () => {
      for (const table of all) table.clear();
    },
  };
}

/** Calls have no table: a call is folded from its own events. */
function makeCallTable(database: Database): StoredTable<CallEntry> {
  const own = makeCallEventReader(database);
  const named = query<EventColumns>(database, `select ${EVENT_COLUMNS} from events where naming = ? and pos > ? and call = ? order by pos`);
  const asked = query<{ id: string }>(database, "select id from questions where session = ? and call = ? and open = 1 order by first");
  const load = (key: string): CallEntry | undefined => {
    const { session, call } = splitCallKey(key);
    const events = own(session, call);
    const first = events.find(({ type }) => type === "call.proposed");
    if (!first) return undefined;
    const entry = foldCall([...events, ...named.all(session, first.pos, call)].sort((one, other) => one.pos - other.pos));
    return entry?.row ? { ...entry, asked: asked.all(session, call).map(({ id }) => id) } : entry;
  };
  return makeStoredTable({ load, write: () => undefined, kept: KEPT_ROWS, isNeeded: ({ row }) => row !== undefined });
}

type StoredListColumns = { readonly first: number; readonly latest: number; readonly row: string };

function makeListTable<K extends keyof ListRows>(database: Database, table: K): StoredTable<ListEntry<ListRows[K]>> {
  const { column, value } = SEARCH_COLUMN[table];
  const select = query<StoredListColumns>(database, `select first, latest, row from ${table} where id = ?`);
  const insert = query(
    database,
    `insert into ${table} (id, first, latest, session, ${column}, open, row) values (?, ?, ?, ?, ?, ?, ?)
     on conflict (id) do update set latest = excluded.latest, open = excluded.open, row = excluded.row`,
  );
  const load = (id: string): ListEntry<ListRows[K]> | undefined => {
    const found = select.get(id);
    return found && { first: found.first, latest: found.latest, row: parseRow<ListRows[K]>(found.row) };
  };
  const write = (id: string, { row, first, latest }: ListEntry<ListRows[K]>): void => {
    insert.run(id, first, latest, row.session ?? null, value(row), Number(IS_OPEN[table](row)), JSON.stringify(row));
  };
  return makeStoredTable({ load, write, kept: 0 });
}
