import { randomBytes } from "node:crypto";
import { LedgerError } from "@assent/core";
import { makeDraft, makeEventStaging, makeUndoable, stageShared, storeNewer } from "@assent/store/parts";
import type { Connection } from "../connect/connection.ts";
import { serverError } from "../connect/failure.ts";
import type { StoreUrl } from "../connect/store-url.ts";
import { readAccess, readOnlyRefusal, type StoreAccess } from "../roles/access.ts";
import { buildFlush } from "../rows/flush-rows.ts";
import { loadRows, SHARED_KEYS } from "../rows/load-rows.ts";
import { makeLoadedRows } from "../rows/loaded-rows.ts";
import { SCHEMA, SCHEMA_VERSION } from "./schema.ts";

/** The id of the store, what the role may write, and why it is read-only, if it is. */
export type PreparedSchema = { readonly storeId: string; readonly access: StoreAccess; readonly refusal: LedgerError | undefined };

type SchemaFacts = { readonly present: boolean; readonly may_create: boolean; readonly encoding: string };

/** Creates the schema if it is missing and the role may. With `createIfMissing: false`, a missing one is an error. */
export async function prepareSchema(
  connection: Connection,
  { schema, shown }: Pick<StoreUrl, "schema" | "shown">,
  createIfMissing: boolean,
): Promise<PreparedSchema> {
  await refuseOldServer(connection, shown);
  if (!(await hasTables(connection, schema))) {
    if (!createIfMissing) throw noLedger(shown);
    await createSchema(connection, schema, shown);
  }
  const { rows } = await connection.query<{ readonly key: string; readonly value: string }>(
    "select key, value from meta where key in ('store', 'version', 'roles')",
  );
  const meta = new Map(rows.map(({ key, value }) => [key, value]));
  const storeId = meta.get("store");
  const version = Number(meta.get("version"));
  if (storeId === undefined || !Number.isInteger(version)) throw foreignSchema(schema, shown);
  const access = await readAccess(connection, meta.get("roles"));
  const refusal = version > SCHEMA_VERSION ? storeNewer(version, SCHEMA_VERSION) : readOnlyRefusal(access);
  return { storeId, access, refusal };
}

const OLDEST = 150_000;

async function refuseOldServer(connection: Connection, shown: string): Promise<void> {
  const { rows } = await connection.query<{ readonly version: number }>("select current_setting('server_version_num')::int as version");
  const version = rows[0]?.version ?? 0;
  if (version < OLDEST)
    throw serverError(
      "store_unsafe_location",
      `The ledger ${shown} needs PostgreSQL 15 or newer; this server is ${Math.floor(version / 10_000)}.`,
    );
}

/** Reads the catalog, because `to_regclass` may remember that a table was missing until the transaction ends. */
export async function hasTables(connection: Connection, schema: string): Promise<boolean> {
  const { rows } = await connection.query(
    "select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relname = 'events'",
    [schema],
  );
  return rows.length > 0;
}

function noLedger(shown: string): LedgerError {
  return new LedgerError(
    "store_lost",
    `There is no ledger in ${shown}. Check the database and ?schema=NAME in the URL. To create a ledger: assent store migrate --store URL`,
  );
}

function foreignSchema(schema: string, shown: string): LedgerError {
  return serverError("store_unsafe_location", `The schema ${schema} of ${shown} belongs to another program. Choose another: ?schema=NAME`);
}

/** Two processes may try at once; the second one finds the tables. */
async function createSchema(connection: Connection, schema: string, shown: string): Promise<void> {
  await connection.query("begin");
  try {
    await connection.query("select pg_advisory_xact_lock(hashtext($1))", [`assent ${schema}`]);
    if (!(await hasTables(connection, schema))) {
      await createTables(connection, { schema, shown });
      await writeFirst(connection);
    }
    await connection.query("commit");
  } catch (error) {
    if (!connection.isLost()) await connection.query("rollback");
    throw error;
  }
}

/** Creates empty tables. Call it in a transaction. */
export async function createTables(
  connection: Connection,
  { schema, shown }: Pick<StoreUrl, "schema" | "shown">,
  advice = "As its owner, run: assent store migrate --store URL",
): Promise<void> {
  await refuseForeign(connection, schema, { shown, advice });
  // "if not exists" would need the right to create schemas also for one that exists.
  const { rows } = await connection.query("select 1 from pg_namespace where nspname = $1", [schema]);
  if (rows.length === 0) await connection.query(`create schema "${schema}"`);
  await connection.query(SCHEMA);
  await connection.query("insert into meta (key, value) values ('version', $1)", [String(SCHEMA_VERSION)]);
}

async function refuseForeign(
  connection: Connection,
  schema: string,
  { shown, advice }: { readonly shown: string; readonly advice: string },
): Promise<void> {
  const { rows } = await connection.query<SchemaFacts>(
    `select exists (select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1) as present,
       case when to_regnamespace(quote_ident($1)) is null then has_database_privilege(current_database(), 'create')
         else has_schema_privilege($1, 'create') end as may_create,
       current_setting('server_encoding') as encoding`,
    [schema],
  );
  const { present, may_create: mayCreate, encoding } = rows[0] ?? { present: false, may_create: false, encoding: "" };
  if (present) throw foreignSchema(schema, shown);
  if (encoding !== "UTF8")
    throw serverError(
      "store_unsafe_location",
      `The database of ${shown} has the encoding ${encoding}. A ledger needs a database with UTF8.`,
    );
  if (!mayCreate)
    throw new LedgerError(
      "store_role_refused",
      `There is no ledger in ${shown}, and this role may not create the schema ${schema}. ${advice}`,
    );
}

/** Every hash includes the random id, so events of two stores never match. */
async function writeFirst(connection: Connection): Promise<void> {
  const store = randomBytes(16).toString("hex");
  await connection.query("insert into counter (pos) values (0)");
  await connection.query("insert into meta (key, value) values ('store', $1)", [store]);
  const rows = makeLoadedRows();
  await loadRows(connection, rows, SHARED_KEYS);
  const { rows: time } = await connection.query<{ readonly now: string }>(`select ${NOW} as now`);
  const staging = makeEventStaging({
    ...{ store, rows: makeUndoable(rows), head: () => 0, refuseMissing: () => undefined },
    insert: (staged) => {
      ({ text, values } = buildFlush({ staged, rows, pos: staged.length, channel: "assent" }));
    },
  });
  let text = "";
  let values: readonly unknown[] = [];
  stageShared(staging, makeDraft("store.created", { store, version: SCHEMA_VERSION }, time[0]?.now ?? ""));
  staging.keep();
  await connection.query(text, values);
}

/** The database's clock, in the form of an event's time. */
export const NOW = `to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
