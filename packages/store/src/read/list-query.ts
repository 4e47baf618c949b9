import { type Lists, type PageQuery, type SessionRow, SHARED, sessionRowAt } from "@assent/core";
import type { ChainEntry } from "../rows/rows.ts";
import { shownHolder } from "../write/lease.ts";

export type ListTable = {
  readonly table: string;
  readonly id: string;
  readonly always: string;
  /** The condition that `all` drops. */
  readonly open: string;
  /** Sessions and questions have no tool. */
  readonly tool: string;
};

/** Values are placed where the text has `?`. */
export type Statement = { readonly sql: string; readonly values: readonly string[] };

export const LIST_TABLES: { readonly [K in keyof Lists]: ListTable } = {
  approvals: plainTable("approvals"),
  grants: plainTable("grants"),
  sessions: { table: "sessions", id: "session", open: "", tool: "true", always: `row is not null and session <> '${SHARED}'` },
  proposals: plainTable("proposals"),
  questions: { ...plainTable("questions"), tool: "false" },
};

function plainTable(table: string): ListTable {
  return { table, id: "id", always: "true", open: "open = 1", tool: "tool = ?" };
}

/** Lists leave these out unless asked for all. */
export const ENDED: readonly SessionRow["state"][] = ["done", "failed", "cancelled"];

/** The session as listed; undefined if it has no row. */
export function listedSession({ row, holder }: ChainEntry, lives: boolean): SessionRow | undefined {
  return row ? sessionRowAt({ ...row, writer: lives && holder ? shownHolder(holder) : null }, lives) : undefined;
}

/** Finds a prefix by the index of ids; other queries use the index of the order. */
export function buildListStatement(list: ListTable, page: PageQuery): Statement {
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
