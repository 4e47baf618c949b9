import { setTimeout as wait } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { LedgerError } from "@assent/core";
import type { StatePaths } from "../files/state-paths.ts";
import { beyondRepairError, storeError, storeUnreadable, tryStat } from "../files/store-error.ts";
import { BUSY_MS, type Database, type OpenDatabase, query } from "./database.ts";
import { SQLITE, sqliteCode } from "./sqlite-code.ts";

export type Connection = { readonly database: Database; readonly refusal: LedgerError | undefined };

const RETRY_MS = 20;

/** Opens the file read-only if the file system is read-only or full. */
export async function connect(paths: StatePaths, open: OpenDatabase): Promise<Connection> {
  try {
    return { database: await openWal(paths, open), refusal: undefined };
  } catch (cause) {
    const error = storeError(cause, paths);
    if (!isUnwritable(error)) throw error;
    return { database: openReadOnly(paths, open), refusal: error };
  }
}

/** Opens the file as immutable where SQLite cannot create its own files. */
export function openReadOnly(paths: StatePaths, open: OpenDatabase): Database {
  try {
    return openForReading(paths, paths.file, open);
  } catch (cause) {
    const error = storeError(cause, paths);
    if (!isUnwritable(error)) throw error;
    const hasLog = (tryStat(`${paths.file}-wal`)?.size ?? 0) > 0;
    if (hasLog && error.type === "store_full") return openExclusive(paths, open);
    if (hasLog) throw storeUnreadable(paths);
    return openForReading(paths, `${pathToFileURL(paths.file).href}?immutable=1`, open);
  }
}

function isUnwritable(error: unknown): error is LedgerError {
  return error instanceof LedgerError && (error.type === "store_readonly" || error.type === "store_full");
}

/** SQLite keeps the log's index of an exclusive connection in memory, so it needs no disk space. */
function openExclusive(paths: StatePaths, open: OpenDatabase): Database {
  const database = open(paths.file, { readOnly: false, timeout: BUSY_MS });
  return prepare(database, paths, "pragma locking_mode=exclusive; pragma query_only=on; pragma cell_size_check=on");
}

function openForReading(paths: StatePaths, file: string, open: OpenDatabase): Database {
  const database = open(file, { readOnly: true, timeout: BUSY_MS });
  return prepare(database, paths, "pragma cell_size_check=on; select 1 from sqlite_schema limit 1");
}

function prepare(database: Database, paths: StatePaths, statements: string): Database {
  try {
    database.exec(statements);
    refuseForeign(database, paths);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

async function openWal(paths: StatePaths, open: OpenDatabase): Promise<Database> {
  const database = open(paths.file, { readOnly: false, timeout: BUSY_MS });
  try {
    refuseForeign(database, paths);
    // The store checkpoints itself, because SQLite does not report a failed checkpoint.
    database.exec("pragma wal_autocheckpoint=0; pragma cell_size_check=on");
    await enterWal(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Checks before anything is written. */
function refuseForeign(database: Database, { file, directory }: StatePaths): void {
  const known = query<{ ours: number; all: number }>(
    database,
    "select count(*) as 'all', count(case when name in ('meta', 'events', 'sessions', 'approvals') then 1 end) as ours from sqlite_schema where type = 'table'",
  ).get();
  if (!known || known.ours > 0) return;
  if (known.all === 0) throw beyondRepairError(`The ledger ${file} has no tables.`, { directory });
  const text = `${file} is the database of another program. Choose another directory for the store.`;
  throw new LedgerError("store_unsafe_location", text, { path: file });
}

/** Two processes that open a new file at once make each other fail. */
async function enterWal(database: Database): Promise<void> {
  for (let left = BUSY_MS / RETRY_MS; ; left -= 1) {
    try {
      database.exec("pragma journal_mode=wal");
      return;
    } catch (error) {
      if (left === 0 || sqliteCode(error) !== SQLITE.BUSY) throw error;
    }
    await wait(RETRY_MS);
  }
}
