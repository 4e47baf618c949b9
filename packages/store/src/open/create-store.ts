import { randomBytes } from "node:crypto";
import { closeSync, linkSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { BUSY_MS, type Database, type OpenDatabase } from "../database/database.ts";
import { createTables } from "../database/migrate.ts";
import { createPrivateFile, isCode, makeStateDirectory, syncDirectory } from "../files/state-directory.ts";
import type { StatePaths } from "../files/state-paths.ts";
import { storeLost, tryStat } from "../files/store-error.ts";

/** Moves a finished file into place, so an empty file always means damage. */
export function createLedger(paths: StatePaths, open: OpenDatabase, first: (database: Database) => void): void {
  makeStateDirectory(paths);
  const made = `${paths.file}.new-${process.pid}-${randomBytes(4).toString("hex")}`;
  try {
    createPrivateFile(made);
    const database = open(made, { readOnly: false, timeout: BUSY_MS });
    try {
      createTables(database, () => first(database));
    } finally {
      database.close();
    }
    linkSync(made, paths.file);
    syncDirectory(dirname(paths.file));
  } catch (error) {
    if (!isCode(error, "EEXIST")) throw error; // another process was faster
  } finally {
    rmSync(made, { force: true });
    rmSync(`${made}-journal`, { force: true });
  }
}

const STORE_ID = /^[0-9a-f]{32}$/;

/** Throws `store_lost` for the ledger of another store. Writes a missing `ledger.id`. */
export function checkStoreId(paths: StatePaths, storeId: string, canWrite: boolean): void {
  const noted = tryStat(paths.idFile) ? readFileSync(paths.idFile, "utf8").trim() : "";
  if (STORE_ID.test(noted) && noted !== storeId)
    throw storeLost(`The ledger ${paths.file} was replaced by that of another store; to use this one, delete ${paths.idFile}.`, paths);
  if (noted === storeId || !canWrite) return;
  try {
    writeFileSync(paths.idFile, `${storeId}\n`, { mode: 0o600 });
  } catch (error) {
    if (!isCode(error, "ENOSPC") && !isCode(error, "EDQUOT")) throw error; // the next process that opens the store writes it
  }
}

/**
 * Throws `store_lost` if the log was deleted. SQLite removes the log after its index (`-shm`), so an index with pending frames but no log
 * means that the log was deleted.
 */
export function refuseMissingLog(paths: StatePaths): void {
  if (isLogMissing(paths)) throw storeLost(missingLog(paths), paths);
}

export function missingLog({ file }: StatePaths): string {
  return `The log ${file}-wal is missing, and with it the newest records. To continue without them: assent verify --repair.`;
}

/**
 * Checks twice, because another process may be closing the store. Reads the index only if there is no log: closing a file drops this
 * process's locks on it, and another process could then empty the index under SQLite (SIGBUS).
 */
export function isLogMissing({ file }: StatePaths): boolean {
  const lacks = (): boolean => tryStat(`${file}-wal`) === undefined && hasPendingFrames(`${file}-shm`);
  return lacks() && lacks();
}

/** Offsets in the index header. */
const INDEX = { isInit: 12, frames: 16, copied: 96, size: 100 } as const;

function hasPendingFrames(index: string): boolean {
  if ((tryStat(index)?.size ?? 0) < INDEX.size) return false;
  const header = new Uint8Array(INDEX.size);
  try {
    const handle = openSync(index, "r");
    try {
      readSync(handle, header, 0, INDEX.size, 0);
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    if (isCode(error, "ENOENT")) return false;
    throw error;
  }
  const frames = new Uint32Array(header.buffer, INDEX.frames, 1)[0] ?? 0;
  const copied = new Uint32Array(header.buffer, INDEX.copied, 1)[0] ?? 0;
  return header[INDEX.isInit] === 1 && frames > copied;
}
