import { grantRowAt, type Holder, type Lists, type PageQuery } from "@assent/core";
import { buildListStatement, type ChainColumns, ENDED, LIST_TABLES, listedSession, parseRow, toChainEntry } from "@assent/store/parts";
import type { Link } from "../connect/link.ts";
import { NOW } from "../schema/migrate.ts";

type ListedRow = { readonly row: string; readonly first: number; readonly now: string };
type ListedSession = ChainColumns & { readonly lives: boolean };

/** Rows to read at once if ended ones may have to be skipped. */
const PAGE_ROWS = 200;

/** Reads a page of a list. */
export async function readPending<K extends keyof Lists>(
  link: Link,
  kind: K,
  page: PageQuery,
  isGone: (holder: Holder) => boolean,
): Promise<readonly Lists[K][]> {
  const { limit = Number.POSITIVE_INFINITY, all = false } = page;
  const found: Lists[K][] = [];
  for (let after: number | undefined; found.length < limit; ) {
    const { text, values } = selectPage(kind, page, after);
    const { rows } = await link.run((connection) => connection.query<ListedRow & ListedSession>(text, values));
    for (const row of rows) {
      const { value, isOver } = readRow(kind, row, isGone);
      // The table of a kind has rows of its type.
      if (value && (all || !isOver)) found.push(value as Lists[K]);
    }
    after = rows.at(-1)?.first;
    if (rows.length < PAGE_ROWS || page.prefix !== undefined) break;
  }
  return found.slice(0, limit === Number.POSITIVE_INFINITY ? undefined : limit);
}

function selectPage(kind: keyof Lists, page: PageQuery, after: number | undefined): { readonly text: string; readonly values: unknown[] } {
  const table = LIST_TABLES[kind];
  const moved = after === undefined ? table : { ...table, always: `${table.always} and first ${page.newestFirst ? "<" : ">"} ${after}` };
  const { sql, values } = buildListStatement(moved, page);
  const more =
    kind === "sessions"
      ? ", (select l.held_until > clock_timestamp() from leases l where l.session = sessions.session and l.epoch = sessions.epoch) as lives"
      : `, greatest(${NOW}, (select newest_at from counter)) as now`;
  let count = 0;
  const numbered = sql.replace("select *", `select *${more}`).replaceAll("?", () => `$${++count}`);
  return { text: page.prefix === undefined ? `${numbered} limit ${PAGE_ROWS}` : numbered, values: [...values] };
}

type ReadRow = { readonly value: Lists[keyof Lists] | undefined; readonly isOver: boolean };

function readRow(kind: keyof Lists, columns: ListedRow & ListedSession, isGone: (holder: Holder) => boolean): ReadRow {
  switch (kind) {
    case "sessions": {
      const chain = toChainEntry(columns);
      const value = listedSession(chain, chain.holder !== null && columns.lives === true && !isGone(chain.holder));
      return { value, isOver: value !== undefined && ENDED.includes(value.state) };
    }
    case "grants": {
      const value = grantRowAt(parseRow<Lists["grants"]>(columns.row), columns.now);
      return { value, isOver: value.state !== "active" };
    }
    default:
      return { value: parseRow<Lists[typeof kind]>(columns.row), isOver: false };
  }
}
