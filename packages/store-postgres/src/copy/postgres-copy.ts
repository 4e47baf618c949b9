import { callOf } from "@assent/core";
import type { CopiedPage, CopiedTable, LedgerCopy } from "@assent/store";
import { COPIED_COLUMNS, COPIED_PLACE, COPIED_TABLES, COPY_PAGE } from "@assent/store/parts";
import { BEGIN_READING, type Connection, makeConnect } from "../connect/connection.ts";
import { databaseError, serverError } from "../connect/failure.ts";
import { parseStoreUrl } from "../connect/store-url.ts";
import { processesOf } from "../rows/flush-rows.ts";
import { createTables, hasTables, prepareSchema } from "../schema/migrate.ts";

/** Reads a ledger on PostgreSQL at one moment. */
export async function readPostgresCopy<T>(url: string, work: (copy: LedgerCopy) => Promise<T>): Promise<T> {
  return withConnection(url, async (connection, place) => {
    const { storeId, refusal } = await prepareSchema(connection, place, false);
    if (refusal?.type === "store_newer") throw refusal;
    await connection.query(BEGIN_READING);
    const { rows } = await connection.query<{ readonly value: string }>("select value from meta where key = 'checkpoint'");
    return work({ store: storeId, checkpoint: rows[0]?.value, pages: readPages(connection) });
  });
}

async function withConnection<T>(
  url: string,
  work: (connection: Connection, place: ReturnType<typeof parseStoreUrl>) => Promise<T>,
): Promise<T> {
  const place = parseStoreUrl(url);
  try {
    const connection = await makeConnect(place)();
    try {
      return await work(connection, place);
    } finally {
      await connection.close();
    }
  } catch (error) {
    throw databaseError(error, place.shown);
  }
}

async function* readPages(connection: Connection): AsyncGenerator<CopiedPage> {
  for (const table of COPIED_TABLES) {
    const columns = COPIED_COLUMNS[table];
    const order = table === "blob_uses" ? "session, sha" : columns[0];
    await connection.query(`declare copied no scroll cursor for select ${columns.join(", ")} from ${table} order by ${order}`);
    for (;;) {
      const { rows } = await connection.query<Readonly<Record<string, unknown>>>(`fetch ${COPY_PAGE} from copied`);
      if (rows.length === 0) break;
      yield { table, rows: rows.map((row) => columns.map((column) => row[column])) };
    }
    await connection.query("close copied");
  }
}

/** Writes a ledger to a schema that has none. It is there only once it is complete. Returns the number of events. */
export async function writePostgresCopy(url: string, { store, checkpoint, pages }: LedgerCopy): Promise<number> {
  return withConnection(url, async (connection, place) => {
    if (await hasTables(connection, place.schema))
      throw serverError("store_unsafe_location", `${place.shown} already holds a ledger. Choose another schema: ?schema=NAME`);
    await connection.query("begin");
    await connection.query("set local idle_in_transaction_session_timeout = 0");
    await createTables(connection, place, "Copy it as a role that may.");
    await putMeta(connection, { store, place: COPIED_PLACE, ...(checkpoint !== undefined && { checkpoint }) });
    let events = 0;
    for await (const page of pages) {
      await insertPage(connection, page);
      if (page.table === "events") events += page.rows.length;
    }
    await connection.query("insert into counter (pos, newest_at) select coalesce(max(pos), 0), coalesce(max(at), '') from events");
    await connection.query("commit");
    return events;
  });
}

async function putMeta(connection: Connection, meta: Readonly<Record<string, string>>): Promise<void> {
  for (const [key, value] of Object.entries(meta)) await connection.query("insert into meta (key, value) values ($1, $2)", [key, value]);
}

async function insertPage(connection: Connection, { table, rows }: CopiedPage): Promise<void> {
  await insertRows(connection, table, table === "events" ? rows.map(withCall) : rows);
  if (table !== "events") return;
  const processes = rows.flatMap((row) => processesOf({ type: String(row[TYPE]), body: bodyOf(row) }).map((pid) => [pid, row[0]]));
  if (processes.length === 0) return;
  await connection.query("insert into processes (pid, pos) select * from unnest($1::bigint[], $2::bigint[]) on conflict do nothing", [
    processes.map(([pid]) => pid),
    processes.map(([, pos]) => pos),
  ]);
}

const TYPE = COPIED_COLUMNS.events.indexOf("type");
const BODY = COPIED_COLUMNS.events.indexOf("body");
const CALL = COPIED_COLUMNS.events.indexOf("call");

/** SQLite indexes only some events of a call, PostgreSQL all. */
function withCall(row: readonly unknown[]): readonly unknown[] {
  return row[CALL] === null ? row.with(CALL, callOf({ body: bodyOf(row) }) ?? null) : row;
}

/** A damaged body is copied as it is. */
function bodyOf(row: readonly unknown[]): Parameters<typeof processesOf>[0]["body"] {
  try {
    return JSON.parse(String(row[BODY])) as Parameters<typeof processesOf>[0]["body"]; // parsing: a ledger wrote it
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

const NUMBERS: ReadonlySet<string> = new Set([
  "pos",
  "seq",
  "epoch",
  "v",
  "first",
  "latest",
  "policy_seq",
  "closed",
  "pruned",
  "open",
  "version",
]);

async function insertRows(connection: Connection, table: CopiedTable, rows: CopiedPage["rows"]): Promise<void> {
  const columns = COPIED_COLUMNS[table];
  const types = columns.map((column) => (NUMBERS.has(column) ? "bigint" : column === "bytes" ? "bytea" : "text"));
  const arrays = columns.map((_, at) => rows.map((row) => (types[at] === "bytea" ? Buffer.from(row[at] as Uint8Array) : row[at])));
  await connection.query(
    `insert into ${table} (${columns.join(", ")}) select * from unnest(${types.map((type, at) => `$${at + 1}::${type}[]`).join(", ")})`,
    arrays,
  );
}
