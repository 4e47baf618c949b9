import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { type Clock, LedgerError } from "@assent/core";
import { stageShared } from "./append.ts";
import { connect } from "./connection.ts";
import { type Database, nodeSqlite, type OpenDatabase, query, transact } from "./database.ts";
import type { FilePlace } from "./lease.ts";
import { createTables, MIGRATIONS, migrate, schemaState, schemaVersion } from "./migrate.ts";
import { draft } from "./own-draft.ts";
import { hasMoved, recordedPlace, recordPlace, voidAnswers } from "./restored.ts";
import { SCHEMA_VERSION } from "./schema.ts";
import { prepareDirectory, type StoreWarning } from "./state-directory.ts";
import { type StatePaths, statePaths } from "./state-paths.ts";
import { newer, storeError } from "./store-error.ts";
import { makeWriting, type Writing } from "./writing.ts";

/** Where a store is and what it stands on. */
export type OpenStoreOptions = {
  /** The state directory. */
  readonly directory: string;
  readonly clock?: Pick<Clock, "now">;
  /** False: a missing store is an error (`ENOENT`), never made. */
  readonly createIfMissing?: boolean;
  readonly openDatabase?: OpenDatabase;
};

/** A database that is one of ours and up to date, with everything found on the way. */
export type OpenStore = {
  readonly database: Database;
  readonly paths: StatePaths;
  readonly storeId: string;
  readonly writing: Writing;
  readonly place: FilePlace;
  /** Why nothing can be written, if so. */
  readonly refusal: LedgerError | undefined;
  readonly warnings: StoreWarning[];
  readonly time: () => string;
};

/** Opens the store: directory, file, tables, migrations; a copy of a store is told from its original. */
export async function openStore({ directory, clock = Date, createIfMissing = true, openDatabase }: OpenStoreOptions): Promise<OpenStore> {
  const paths = statePaths(directory);
  const time = (): string => new Date(clock.now()).toISOString();
  const warnings = [...guarded(paths, () => prepareDirectory(paths, createIfMissing))];
  const { database, refusal } = await connect(paths, openDatabase ?? (await nodeSqlite()));
  try {
    return guarded(paths, () => {
      const refused = refusal ?? bringUpToDate(database, paths, { time, createIfMissing });
      const storeId = storeIdOf(database);
      const writing = makeWriting(database, storeId);
      const place = placeOf(paths.file);
      const store = { database, paths, storeId, writing, place, refusal: refused, warnings, time };
      if (!refused) noticeCopy(store);
      return store;
    });
  } catch (error) {
    database.close();
    throw error;
  }
}

function guarded<T>(paths: StatePaths, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw storeError(error, paths);
  }
}

type Updating = { readonly time: () => string; readonly createIfMissing: boolean };

function bringUpToDate(database: Database, { directory, file }: StatePaths, { time, createIfMissing }: Updating): LedgerError | undefined {
  const state = schemaState(database);
  if (state === "newer") return newer(schemaVersion(database), SCHEMA_VERSION);
  if (state === "empty") {
    if (!createIfMissing) throw Object.assign(new Error(`There is no ledger in ${directory}.`), { code: "ENOENT" });
    createTables(database, () => writeFirst(database, time()));
  }
  const record = (from: number, to: number): void => recordMigration(database, { from, to, at: time() });
  if (state === "older") migrate(database, { file, migrations: MIGRATIONS, record });
  return undefined;
}

/** A random id tells one store's events from another's, whatever else is alike. */
function writeFirst(database: Database, at: string): void {
  const store = randomBytes(16).toString("hex");
  query(database, "insert into meta (key, value) values ('store', ?)").run(store);
  write(makeWriting(database, store), (writing) => stageShared(writing, draft("store.created", { store, version: SCHEMA_VERSION }, at)));
}

/** Puts a migration on the record, inside its transaction. */
export function recordMigration(
  database: Database,
  { from, to, at }: { readonly from: number; readonly to: number; readonly at: string },
): void {
  write(makeWriting(database, storeIdOf(database)), (writing) => stageShared(writing, draft("store.migrated", { from, to }, at)));
}

/** Stages and stores inside a transaction that is already open. */
export function write(writing: Writing, stage: (writing: Writing) => unknown): void {
  writing.begin();
  stage(writing);
  writing.keep();
  writing.flush();
}

/** The id in the database; a database without one is not ours. */
export function storeIdOf(database: Database): string {
  const found = query<{ value: string }>(database, "select value from meta where key = 'store'").get();
  if (!found) throw new LedgerError("store_corrupt", "The ledger has lost its id. See what is damaged: assent verify");
  return found.value;
}

function placeOf(file: string): FilePlace {
  const { dev, ino } = statSync(file, { bigint: true });
  return { device: String(dev), inode: String(ino) };
}

function noticeCopy({ database, writing, place, warnings, time }: OpenStore): void {
  if (!hasMoved(recordedPlace(database), place)) return;
  transact(database, "begin immediate", () => {
    if (!hasMoved(recordedPlace(database), place)) return; // another process was faster
    let count = 0;
    write(writing, () => {
      count = voidAnswers(database, writing, time());
    });
    recordPlace(database, place);
    const message = `This ledger is a copy or a restored backup: ${count} open approvals and unused answers were cancelled.`;
    warnings.push({ type: "store_restored", message });
  });
}
