import {
  type ApprovalRow,
  type GrantRow,
  grantAt,
  type Holder,
  type Lists,
  type PageQuery,
  type SessionRow,
  SHARED,
  sessionAt,
} from "@assent/core";
import { type Database, type Query, query } from "./database.ts";

/** What a list depends on besides its table. */
export type ListFacts = { readonly now: () => string; readonly isLive: (holder: Holder) => boolean };

/** One page of a list as it stands now. */
export type Pending = <K extends keyof Lists>(kind: K, page: PageQuery) => readonly Lists[K][];

type Columns = { readonly row: string; readonly holder: string | null };

type ListTable = {
  readonly table: string;
  readonly id: string;
  readonly holder: string;
  readonly always: string;
  /** What `all` leaves away. */
  readonly open: string;
};

type Listing<Row> = ListTable & {
  readonly read: (columns: Columns) => Row;
  readonly isOver: (row: Row) => boolean;
};

const ENDED: readonly SessionRow["state"][] = ["done", "failed", "cancelled"];

/** The lists of a database, paged by index. */
export function pendingLists(database: Database, { now, isLive }: ListFacts): Pending {
  const prepared = new Map<string, Query<Columns>>();
  const prepare = (sql: string): Query<Columns> => {
    const found = prepared.get(sql) ?? query<Columns>(database, sql);
    prepared.set(sql, found);
    return found;
  };
  const listings: { readonly [K in keyof Lists]: Listing<Lists[K]> } = {
    approvals: {
      ...plain("approvals"),
      // Parsing: rows of lists are written as JSON by stored-rows.ts.
      read: ({ row }) => JSON.parse(row) as ApprovalRow,
      isOver: () => false,
    },
    grants: {
      ...plain("grants"),
      read: ({ row }) => grantAt(JSON.parse(row) as GrantRow, now()),
      isOver: ({ state }) => state !== "active",
    },
    sessions: {
      ...{ table: "sessions", id: "session", holder: "holder", open: "", always: `row is not null and session <> '${SHARED}'` },
      read: (columns) => sessionRow(columns, isLive),
      isOver: ({ state }) => ENDED.includes(state),
    },
  };
  return (kind, page) => take(listings[kind], page, prepare);
}

function plain(table: string): ListTable {
  return { table, id: "id", holder: "null", always: "true", open: "open = 1" };
}

function sessionRow({ row, holder }: Columns, isLive: ListFacts["isLive"]): SessionRow {
  const writer = holder === null ? null : (JSON.parse(holder) as Holder);
  const lives = writer !== null && isLive(writer);
  return sessionAt({ ...(JSON.parse(row) as SessionRow), writer: lives ? writer : null }, lives);
}

function take<Row>(listing: Listing<Row>, page: PageQuery, prepare: (sql: string) => Query<Columns>): readonly Row[] {
  const { sql, values } = statement(listing, page);
  const rows: Row[] = [];
  if (page.limit !== undefined && page.limit < 1) return rows;
  for (const columns of prepare(sql).iterate(...values)) {
    const row = listing.read(columns);
    if (!page.all && listing.isOver(row)) continue;
    rows.push(row);
    if (rows.length === page.limit) break;
  }
  return rows;
}

/** By a prefix the index of ids is used and the few hits are sorted; else the index of the order. */
function statement(
  { table, id, holder, always, open }: ListTable,
  { after, session, tool, all, prefix }: PageQuery,
): { readonly sql: string; readonly values: readonly string[] } {
  const conditions: (readonly [string, ...string[]])[] = [[always]];
  if (!all && open !== "") conditions.push([open]);
  if (after !== undefined) conditions.push([`first > (select first from ${table} where ${id} = ?)`, after]);
  if (session !== undefined) conditions.push(["session = ?", session]);
  if (tool !== undefined && table !== "sessions") conditions.push(["tool = ?", tool]);
  if (prefix) conditions.push([`${id} >= ? and ${id} < ?`, prefix, `${prefix}\u{10ffff}`]);
  const where = conditions.map(([sql]) => sql).join(" and ");
  const order = prefix ? "+first" : "first";
  return {
    sql: `select row, ${holder} as holder from ${table} where ${where} order by ${order}`,
    values: conditions.flatMap(([, ...values]) => values),
  };
}
