import {
  type ApprovalRow,
  type GrantRow,
  grantRowAt,
  type Holder,
  type Lists,
  type PageQuery,
  type ProposalRow,
  type SessionRow,
  SHARED,
  sessionRowAt,
} from "@assent/core";
import { type Database, type Query, query } from "../database/database.ts";
import { type ChainEntry, parseRow } from "../rows/rows.ts";
import { type ChainColumns, makeChainReader } from "../rows/stored-chains.ts";
import { shownHolder } from "../write/lease.ts";

export type ListFacts = { readonly now: () => string; readonly isLive: (holder: Holder) => boolean };

export type ListReader = <K extends keyof Lists>(kind: K, page: PageQuery) => readonly Lists[K][];

type ListTable = {
  readonly table: string;
  readonly id: string;
  readonly always: string;
  /** The condition that `all` drops. */
  readonly open: string;
  /** Sessions and questions have no tool. */
  readonly tool: string;
};

type ListQuery<Row> = ListTable & {
  readonly rows: (statement: Statement) => Iterable<Row>;
  readonly isOver: (row: Row) => boolean;
};

type Statement = { readonly sql: string; readonly values: readonly string[] };

type QuestionRow = Lists["questions"];

const ENDED: readonly SessionRow["state"][] = ["done", "failed", "cancelled"];

export function makeListReader(database: Database, { now, isLive }: ListFacts): ListReader {
  const chains = makeChainReader(database);
  const statements = new Map<string, unknown>();
  const rowsOf = <Columns>({ sql, values }: Statement): Iterable<Columns> => {
    // Parsing: each statement returns the rows of its table.
    const prepared = (statements.get(sql) ?? query<Columns>(database, sql)) as Query<Columns>;
    statements.set(sql, prepared);
    return prepared.iterate(...values);
  };
  const listings: { readonly [K in keyof Lists]: ListQuery<Lists[K]> } = {
    approvals: { ...plainTable("approvals"), rows: (statement) => parseRows<ApprovalRow>(rowsOf(statement)), isOver: () => false },
    grants: {
      ...plainTable("grants"),
      rows: function* (statement) {
        for (const grant of parseRows<GrantRow>(rowsOf(statement))) yield grantRowAt(grant, now());
      },
      isOver: ({ state }) => state !== "active",
    },
    sessions: {
      ...{ table: "sessions", id: "session", open: "", tool: "true", always: `row is not null and session <> '${SHARED}'` },
      rows: function* (statement) {
        for (const columns of rowsOf<ChainColumns>(statement)) yield* sessionRow(chains.read(columns), isLive);
      },
      isOver: ({ state }) => ENDED.includes(state),
    },
    proposals: { ...plainTable("proposals"), rows: (statement) => parseRows<ProposalRow>(rowsOf(statement)), isOver: () => false },
    questions: {
      ...plainTable("questions"),
      tool: "false",
      rows: (statement) => parseRows<QuestionRow>(rowsOf(statement)),
      isOver: () => false,
    },
  };
  return (kind, page) => readListPage(listings[kind], page);
}

function plainTable(table: string): ListTable {
  return { table, id: "id", always: "true", open: "open = 1", tool: "tool = ?" };
}

function* parseRows<Row>(rows: Iterable<{ readonly row: string }>): Generator<Row> {
  for (const { row } of rows) yield parseRow<Row>(row);
}

function* sessionRow({ row, holder }: ChainEntry, isLive: ListFacts["isLive"]): Generator<SessionRow> {
  const lives = holder !== null && isLive(holder);
  if (row) yield sessionRowAt({ ...row, writer: lives ? shownHolder(holder) : null }, lives);
}

function readListPage<Row>(listing: ListQuery<Row>, page: PageQuery): readonly Row[] {
  const rows: Row[] = [];
  if (page.limit !== undefined && page.limit < 1) return rows;
  for (const row of listing.rows(buildStatement(listing, page))) {
    if (!page.all && listing.isOver(row)) continue;
    rows.push(row);
    if (rows.length === page.limit) break;
  }
  return rows;
}

/** Finds a prefix by the index of ids; other queries use the index of the order. */
function buildStatement(list: ListTable, page: PageQuery): Statement {
  const { prefix, limit, newestFirst } = page;
  const conditions = conditionsOf(list, page);
  const exact = prefix && limit === 1 ? [prefix] : [];
  const order = `${exact.length > 0 ? `${list.id} <> ?, ` : ""}${prefix ? "+first" : "first"}${newestFirst ? " desc" : ""}`;
  return {
    sql: `select * from ${list.table} where ${conditions.map(([sql]) => sql).join(" and ")} order by ${order}`,
    values: [...conditions.flatMap(([, ...values]) => values), ...exact],
  };
}

type Condition = readonly [sql: string, ...values: string[]];

function conditionsOf({ table, id, always, open, tool: ofTool }: ListTable, page: PageQuery): readonly Condition[] {
  const { after, session, tool, all, prefix, newestFirst } = page;
  const conditions: Condition[] = [[always]];
  if (!all && open !== "") conditions.push([open]);
  if (after !== undefined) conditions.push([`first ${newestFirst ? "<" : ">"} (select first from ${table} where ${id} = ?)`, after]);
  if (session !== undefined) conditions.push(["session = ?", session]);
  if (tool !== undefined) conditions.push(ofTool.includes("?") ? [ofTool, tool] : [ofTool]);
  if (prefix) conditions.push([`${id} >= ? and ${id} < ?`, prefix, `${prefix}\u{10ffff}`]);
  return conditions;
}
