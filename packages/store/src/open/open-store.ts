import { randomBytes } from "node:crypto";
import { type Clock, LedgerError, SHARED } from "@assent/core";
import { connect } from "../database/connection.ts";
import { type Database, nodeSqlite, type OpenDatabase, query, transact } from "../database/database.ts";
import { MIGRATIONS, migrate, schemaState, schemaVersion } from "../database/migrate.ts";
import { SCHEMA_VERSION } from "../database/schema.ts";
import { findMissingMarks, type Mark, type Marks, openMarks } from "../files/marks.ts";
import { hasLedger, noLedger, prepareDirectory, type StoreWarning } from "../files/state-directory.ts";
import { type StatePaths, statePaths } from "../files/state-paths.ts";
import { storeCorrupt, storeError, storeNewer } from "../files/store-error.ts";
import { type StoreFiles, watchStoreFiles } from "../files/store-files.ts";
import { stageShared } from "../write/append.ts";
import { makeDraft } from "../write/staging.ts";
import { makeTransactionWriter, type TransactionWriter } from "../write/writing.ts";
import { checkStoreId, createLedger, isLogMissing, refuseMissingLog } from "./create-store.ts";
import {
  cancelAnswers,
  findUnusedAnswers,
  hasMoved,
  readPlace,
  recordPlace,
  recordSettled,
  restoredWarning,
  type StorePlace,
  unsettledMarks,
} from "./restored.ts";

/** Where the store is, and how to open it. */
export type OpenStoreOptions = {
  readonly directory: string;
  readonly clock?: Pick<Clock, "now">;
  /** If false, a missing store is an error (`ENOENT`). */
  readonly createIfMissing?: boolean;
  readonly openDatabase?: OpenDatabase;
};

/** A repair does not check for copies. */
export type OpenForRepairOptions = OpenStoreOptions & {
  readonly asIs?: boolean;
  /** Also opens a store whose write-ahead log is missing. */
  readonly isRepair?: boolean;
};

export type OpenStore = {
  readonly database: Database;
  readonly paths: StatePaths;
  readonly storeId: string;
  readonly writing: TransactionWriter;
  readonly place: StorePlace;
  readonly files: StoreFiles;
  readonly marks: Marks;
  /** Why the store is read-only, if it is. */
  readonly refusal: LedgerError | undefined;
  readonly warnings: StoreWarning[];
  readonly time: () => string;
};

/** True if the directory has a store. Throws a `LedgerError` if that is in doubt. */
export function hasStore(directory: string): boolean {
  return hasLedger(statePaths(directory));
}

/** Prepares files and schema, and checks for copies. */
export async function openStore(options: OpenForRepairOptions): Promise<OpenStore> {
  const { directory, clock = Date, createIfMissing = true, openDatabase, asIs = false, isRepair = false } = options;
  const paths = statePaths(directory);
  const time = (): string => new Date(clock.now()).toISOString();
  const open = openDatabase ?? nodeSqlite;
  const { warnings, place, logMissing } = withStoreErrors(paths, () => {
    if (!hasLedger(paths)) {
      if (!createIfMissing) throw noLedger(paths);
      createLedger(paths, open, (database) => writeFirst(database, time()));
    }
    if (!isRepair) refuseMissingLog(paths);
    return { warnings: [...prepareDirectory(paths)], place: readPlace(paths.file), logMissing: isLogMissing(paths) };
  });
  const { database, refusal } = await connect(paths, open);
  try {
    return withStoreErrors(paths, () => {
      const refused = refusal ?? bringUpToDate(database, paths, time);
      const storeId = storeIdOf(database);
      checkStoreId(paths, storeId, refused === undefined);
      if (logMissing && !refused) recordPlace(database, NOWHERE);
      const writing = makeTransactionWriter(database, storeId);
      const files = watchStoreFiles(paths);
      const marks = openMarks(paths.marks);
      const store = { database, paths, storeId, writing, place, files, marks, refusal: refused, warnings, time };
      return refused || asIs ? store : { ...store, refusal: noticeRestored(store) };
    });
  } catch (error) {
    database.close();
    throw error;
  }
}

function withStoreErrors<T>(paths: StatePaths, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw storeError(error, paths);
  }
}

/** The next opening treats the store as a restored backup. */
const NOWHERE: StorePlace = { device: "", inode: "", born: "" };

function bringUpToDate(database: Database, paths: StatePaths, time: () => string): LedgerError | undefined {
  const state = schemaState(database);
  if (state === "newer") return storeNewer(schemaVersion(database), SCHEMA_VERSION);
  const record = (from: number, to: number): void => recordMigration(database, { from, to, at: time() });
  if (state !== "older") return undefined;
  return unlessFull(paths, () => {
    migrate(database, { file: paths.file, migrations: MIGRATIONS, record });
    if (schemaState(database) === "older")
      throw storeCorrupt(`The ledger has version ${schemaVersion(database)}, which no release of Assent has written.`, {});
  });
}

/** A store on a full disk can still be read. */
function unlessFull(paths: StatePaths, work: () => void): LedgerError | undefined {
  try {
    work();
    return undefined;
  } catch (cause) {
    const error = storeError(cause, paths);
    if (error instanceof LedgerError && error.type === "store_full") return error;
    throw error;
  }
}

/** Every hash includes the random id, so events of two stores never match. */
function writeFirst(database: Database, at: string): void {
  const store = randomBytes(16).toString("hex");
  query(database, "insert into meta (key, value) values ('store', ?)").run(store);
  writeAtOnce(makeTransactionWriter(database, store), (writing) =>
    stageShared(writing, makeDraft("store.created", { store, version: SCHEMA_VERSION }, at)),
  );
}

export function recordMigration(
  database: Database,
  { from, to, at }: { readonly from: number; readonly to: number; readonly at: string },
): void {
  writeAtOnce(makeTransactionWriter(database, storeIdOf(database)), (writing) =>
    stageShared(writing, makeDraft("store.migrated", { from, to }, at)),
  );
}

function writeAtOnce<T>(writing: TransactionWriter, stage: (writing: TransactionWriter) => T): T {
  writing.begin();
  const result = stage(writing);
  writing.keep();
  writing.flush();
  return result;
}

/** A database without an id is not a ledger. */
export function storeIdOf(database: Database): string {
  const found = query<{ value: string }>(database, "select value from meta where key = 'store'").get();
  if (!found) throw storeCorrupt("The ledger has lost its id.", {});
  return found.value;
}

/** Cancels answers that a copied or restored store may have used elsewhere. Returns why a damaged store is read-only. */
function noticeRestored(store: OpenStore): LedgerError | undefined {
  const { database, paths, writing, marks, place } = store;
  const missing = findMissingMarks(database, marks.list());
  if (missing.length === 0 && !hasMoved(database, place)) return undefined;
  try {
    const head = transact(database, () => settleRestored(store));
    marks.remove(missing);
    if (head) marks.put(head);
    return undefined;
  } catch (error) {
    writing.reset();
    if (!(error instanceof LedgerError))
      return unlessFull(paths, () => {
        throw error;
      });
    return storeCorrupt(`This ledger is a copy, and its record is damaged: ${error.message}`, {});
  }
}

/** Undefined if another process was faster. */
function settleRestored({ database, writing, marks, place, warnings, time }: OpenStore): Mark | undefined {
  const unsettled = unsettledMarks(database, marks.list());
  if (unsettled.length === 0 && !hasMoved(database, place)) return undefined;
  recordPlace(database, place);
  recordSettled(database, unsettled);
  const unused = findUnusedAnswers(database);
  writeAtOnce(writing, () => cancelAnswers(writing, unused, time()));
  warnings.push(restoredWarning(unused.length));
  return writing.rows.chains.get(SHARED);
}
