import type { LedgerError } from "@assent/core";
import { NO_HASH } from "./chain.ts";
import { type Database, query } from "./database.ts";
import { EVENT_COLUMNS, type EventColumns } from "./event-columns.ts";
import { type Finding, finding } from "./finding.ts";
import { wrongLink } from "./scan.ts";

/** True for an error by which SQLite says that its file is malformed. */
export function isMalformed(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && typeof error.errcode === "number" && (error.errcode & 0xff) === 11;
}

/** Reads chain by chain in a file whose pages are damaged, and says in each where it cannot go on. */
export function locateDamage(database: Database, store: string): readonly Finding[] {
  const sessions = readable(query<{ session: string }>(database, "select session from sessions").iterate());
  const chain = query<EventColumns>(database, `select ${EVENT_COLUMNS} from events where session = ? order by seq`);
  const located = sessions.rows.flatMap(({ session }) => {
    const found = walkChain(chain.iterate(session), store, session);
    return found ? [found] : [];
  });
  const message = "The database file is malformed.";
  return [...located, ...(located.length === 0 || sessions.broken ? [finding("store_corrupt", {}, message)] : [])];
}

function walkChain(rows: Iterable<EventColumns>, store: string, session: string): Finding | undefined {
  const good = { seq: 0, hash: NO_HASH, epoch: 0 };
  const { rows: read, broken } = readable(rows, (row) => {
    const wrong = wrongLink(store, good, row);
    if (!wrong) Object.assign(good, { seq: row.seq, hash: row.hash, epoch: row.epoch });
    return wrong === undefined;
  });
  const last = read.at(-1);
  if (broken) return finding("store_corrupt", { session, seq: good.seq + 1 }, "The database file is malformed here.");
  return last && last.seq > good.seq ? wrongLink(store, good, last) : undefined;
}

/** Rows until the file refuses, or until `goesOn` does. Of refused rows only the last is kept. */
function readable<Row>(rows: Iterable<Row>, goesOn: (row: Row) => boolean = () => true): { readonly rows: Row[]; readonly broken: boolean } {
  const read: Row[] = [];
  try {
    for (const row of rows) {
      read.push(row);
      if (!goesOn(row)) break;
    }
    return { rows: read, broken: false };
  } catch (error) {
    if (!isMalformed(error)) throw error;
    return { rows: read, broken: true };
  }
}

/** Only for its type. */
export type Malformed = LedgerError;
