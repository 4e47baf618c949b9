import { type ApprovalRow, type GrantRow, grantRowAt, type Holder, type Lists, type PageQuery, type ProposalRow } from "@assent/core";
import { type Database, type Query, query } from "../database/database.ts";
import { parseRow } from "../rows/rows.ts";
import { type ChainColumns, makeChainReader } from "../rows/stored-chains.ts";
import { buildListStatement, ENDED, LIST_TABLES, type ListTable, listedSession, type Statement } from "./list-query.ts";

export type ListReader = <K extends keyof Lists>(kind: K, page: PageQuery) => readonly Lists[K][];

type ListQuery<Row> = ListTable & {
  readonly rows: (statement: Statement) => Iterable<Row>;
  readonly isOver: (row: Row) => boolean;
};

type QuestionRow = Lists["questions"];

export function makeListReader(database: Database, now: () => string, isLive: (holder: Holder) => boolean): ListReader {
  const chains = makeChainReader(database);
  const statements = new Map<string, unknown>();
  const rowsOf = <Columns>({ sql, values }: Statement): Iterable<Columns> => {
    // Parsing: each statement returns the rows of its table.
    const prepared = (statements.get(sql) ?? query<Columns>(database, sql)) as Query<Columns>;
    statements.set(sql, prepared);
    return prepared.iterate(...values);
  };
  const listings: { readonly [K in keyof Lists]: ListQuery<Lists[K]> } = {
    approvals: { ...LIST_TABLES.approvals, rows: (statement) => parseRows<ApprovalRow>(rowsOf(statement)), isOver: () => false },
    grants: {
      ...LIST_TABLES.grants,
      rows: function* (statement) {
        for (const grant of parseRows<GrantRow>(rowsOf(statement))) yield grantRowAt(grant, now());
      },
      isOver: ({ state }) => state !== "active",
    },
    sessions: {
      ...LIST_TABLES.sessions,
      rows: function* (statement) {
        for (const columns of rowsOf<ChainColumns>(statement)) {
          const chain = chains.read(columns);
          const row = listedSession(chain, chain.holder !== null && isLive(chain.holder));
          if (row) yield row;
        }
      },
      isOver: ({ state }) => ENDED.includes(state),
    },
    proposals: { ...LIST_TABLES.proposals, rows: (statement) => parseRows<ProposalRow>(rowsOf(statement)), isOver: () => false },
    questions: {
      ...LIST_TABLES.questions,
      rows: (statement) => parseRows<QuestionRow>(rowsOf(statement)),
      isOver: () => false,
    },
  };
  return (kind, page) => readListPage(listings[kind], page);
}

function* parseRows<Row>(rows: Iterable<{ readonly row: string }>): Generator<Row> {
  for (const { row } of rows) yield parseRow<Row>(row);
}

function readListPage<Row>(listing: ListQuery<Row>, page: PageQuery): readonly Row[] {
  const rows: Row[] = [];
  if (page.limit !== undefined && page.limit < 1) return rows;
  for (const row of listing.rows(buildListStatement(listing, page))) {
    if (!page.all && listing.isOver(row)) continue;
    rows.push(row);
    if (rows.length === page.limit) break;
  }
  return rows;
}
