import { randomBytes } from "node:crypto";
import { linkSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { LedgerError } from "@assent/core";
import { openReadOnly } from "../database/connection.ts";
import { BUSY_MS, type Database, nodeSqlite, query } from "../database/database.ts";
import { createTables, schemaState } from "../database/migrate.ts";
import { createPrivateFile, hasLedger, makeStateDirectory, noLedger, syncDirectory } from "../files/state-directory.ts";
import { type StatePaths, statePaths } from "../files/state-paths.ts";
import { storeError } from "../files/store-error.ts";
import { openStore, storeIdOf } from "../open/open-store.ts";
import { recordPlace } from "../open/restored.ts";
import { type ChainColumns, makeChainReader } from "../rows/stored-chains.ts";
import { COPIED_COLUMNS, COPIED_TABLES, COPY_PAGE, type CopiedPage, type CopiedTable, type LedgerCopy } from "./ledger-copy.ts";

/** Reads the ledger of a directory. It must not change meanwhile: `work` gets a view of one moment. */
export async function readLedgerCopy<T>(directory: string, work: (copy: LedgerCopy) => Promise<T>): Promise<T> {
  const paths = statePaths(directory);
  if (!hasLedger(paths)) throw noLedger(paths);
  const { database: current, refusal } = await openStore({ directory, createIfMissing: false }); // brings an old one up to date
  current.close();
  if (refusal) throw refusal;
  const database = openReadOnly(paths, nodeSqlite);
  try {
    database.exec("begin");
    const checkpoint = query<{ value: string }>(database, "select value from meta where key = 'checkpoint'").get()?.value;
    return await work({ store: storeIdOf(database), checkpoint, pages: readPages(database) });
  } finally {
    database.close();
  }
}

async function* readPages(database: Database): AsyncGenerator<CopiedPage> {
  for (const table of COPIED_TABLES) {
    let rows: (readonly unknown[])[] = [];
    for (const row of readTable(database, table)) {
      rows.push(row);
      if (rows.length < COPY_PAGE) continue;
      yield { table, rows };
      rows = [];
    }
    if (rows.length > 0) yield { table, rows };
  }
}

function* readTable(database: Database, table: CopiedTable): Generator<readonly unknown[]> {
  const columns = COPIED_COLUMNS[table];
  if (table === "sessions") yield* readSessions(database);
  else {
    const rows = query<Readonly<Record<string, unknown>>>(database, `select ${columns.join(", ")} from ${table} order by ${columns[0]}`);
    for (const row of rows.iterate()) yield columns.map((column) => row[column]);
  }
}

/** Rows of sessions may lag behind their events. */
function* readSessions(database: Database): Generator<readonly unknown[]> {
  const { read } = makeChainReader(database);
  for (const columns of query<ChainColumns>(database, "select * from sessions order by session").all()) {
    const { session, seq, hash, pos, first, epoch, policySeq, newestAt, closed, pruned, holder, row } = read(columns);
    yield [
      ...[session, seq, hash, pos, first, epoch, policySeq, newestAt, Number(closed), Number(pruned)],
      ...[holder && JSON.stringify(holder), row && JSON.stringify(row)],
    ];
  }
}

/** Writes a ledger to a directory that has none. It is there only once it is complete. Returns the number of events. */
export async function writeLedgerCopy(directory: string, copy: LedgerCopy): Promise<number> {
  const paths = statePaths(directory);
  if (hasLedger(paths))
    throw new LedgerError("store_unsafe_location", `${paths.directory} already holds a ledger. Choose a new directory.`, { advised: true });
  makeStateDirectory(paths);
  const made = `${paths.file}.new-${process.pid}-${randomBytes(4).toString("hex")}`;
  try {
    createPrivateFile(made);
    const events = await fillFile(made, copy);
    linkSync(made, paths.file);
    syncDirectory(dirname(paths.file));
    return events;
  } catch (error) {
    throw storeError(error, paths satisfies StatePaths);
  } finally {
    rmSync(made, { force: true });
    rmSync(`${made}-journal`, { force: true });
  }
}

async function fillFile(file: string, { store, checkpoint, pages }: LedgerCopy): Promise<number> {
  const database = nodeSqlite(file, { readOnly: false, timeout: BUSY_MS });
  try {
    createTables(database, () => undefined);
    if (schemaState(database) !== "current") throw new Error("The tables could not be made.");
    database.exec("begin");
    const meta = query(database, "insert into meta (key, value) values (?, ?)");
    meta.run("store", store);
    if (checkpoint !== undefined) meta.run("checkpoint", checkpoint);
    recordPlace(database, { device: "", inode: "", born: "" }); // the next opening treats it as a copy
    let events = 0;
    for await (const { table, rows } of pages) {
      insertRows(database, table, rows);
      if (table === "events") events += rows.length;
    }
    database.exec("commit");
    return events;
  } finally {
    database.close();
  }
}

function insertRows(database: Database, table: CopiedTable, rows: CopiedPage["rows"]): void {
  const columns = COPIED_COLUMNS[table];
  const insert = query(database, `insert into ${table} (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`);
  // Parsing: columns are text, numbers, bytes or null.
  for (const row of rows) insert.run(...(row as Parameters<typeof insert.run>));
}
