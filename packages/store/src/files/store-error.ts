import { closeSync, openSync, readFileSync, rmSync, type Stats, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Json, LedgerError } from "@assent/core";
import { primaryCode, SQLITE, sqliteCode } from "../database/sqlite-code.ts";
import { octal, type StatePaths } from "./state-paths.ts";

/** Failed writes, where SQLite does not say whether the disk or a quota refused. */
const REFUSED_WRITES: ReadonlySet<number> = new Set([778, 4874]);

/** Translates errors of SQLite and the file system into `LedgerError`s; returns others unchanged. */
export function storeError(error: unknown, paths: StatePaths): unknown {
  if (error instanceof SyntaxError) return Object.assign(storeCorrupt("A row of the ledger is no JSON.", {}), { cause: error });
  const code = error instanceof Error ? sqliteCodeOf(error) : undefined;
  if (code === undefined || error instanceof LedgerError) return error;
  const known = namedError(code, paths);
  if (known) known.cause = error;
  return known ?? error;
}

function sqliteCodeOf(error: Error): number | undefined {
  const thrown = sqliteCode(error);
  if (thrown !== undefined) return thrown;
  const code = "code" in error ? error.code : undefined;
  if (code === "ENOSPC" || code === "EDQUOT") return SQLITE.FULL;
  if (code === "EIO") return SQLITE.IOERR;
  return code === "EROFS" || code === "EACCES" || code === "EPERM" ? SQLITE.READONLY : undefined;
}

function namedError(code: number, paths: StatePaths): LedgerError | undefined {
  switch (primaryCode(code)) {
    case SQLITE.FULL:
      return storeFull(paths);
    case SQLITE.IOERR:
      return REFUSED_WRITES.has(code) && !hasSpace(paths) ? storeFull(paths) : storeFailing();
    case SQLITE.READONLY:
    case SQLITE.CANTOPEN:
      return storeReadOnly(paths);
    case SQLITE.BUSY:
      return storeLocked(paths);
    case SQLITE.CORRUPT:
    case SQLITE.NOTADB:
      return malformedFile("The database file is damaged.", {});
    case SQLITE.ERROR:
      return storeCorrupt("The tables of the ledger are not those of its version.", {});
    case SQLITE.CONSTRAINT:
      return listsMismatch({});
    default:
      return undefined;
  }
}

function storeFull({ directory }: StatePaths): LedgerError {
  return new LedgerError("store_full", `Disk full: no further action runs until there is space. Free space in ${directory}.`, {
    directory,
  });
}

function storeFailing(): LedgerError {
  const text = "Could not write the ledger (EIO). Nothing more will run. Check the disk, then: assent verify";
  return new LedgerError("store_io", text);
}

function storeReadOnly(paths: StatePaths): LedgerError {
  const { file } = paths;
  const remedy = "Make it writable, or choose another directory for the store.";
  return new LedgerError("store_readonly", `The ledger ${file} cannot be written: ${whyNotWritten(paths)}. ${remedy}`, {
    path: file,
    mode: modeOf(file),
  });
}

function whyNotWritten({ directory, file }: StatePaths): string {
  if (lacksRights(file)) return `its mode is ${modeOf(file)}`;
  return lacksRights(directory) ? `its directory has mode ${modeOf(directory)}` : "its file system refuses it";
}

function lacksRights(path: string, rights = 0o200): boolean {
  const stats = tryStat(path);
  return stats !== undefined && (stats.mode & rights) !== rights;
}

function modeOf(path: string): string {
  const stats = tryStat(path);
  return stats ? octal(stats.mode & 0o777) : "unknown";
}

function storeLocked({ file }: StatePaths): LedgerError {
  const pid = lockHolder(file);
  const who = pid === undefined ? "Another process" : `The process ${pid}`;
  return new LedgerError(
    "store_locked",
    `${who} has held the ledger for more than 5 s. Try again, or end it.`,
    pid === undefined ? {} : { pid },
  );
}

const REPAIR = " See what is damaged: assent verify. Set it aside: assent verify --repair";

export function storeCorrupt(what: string, detail: Readonly<Record<string, Json>>): LedgerError {
  return new LedgerError("store_corrupt", `${what}${REPAIR}`, detail);
}

const RESTORE = " Restore a backup. List the damaged sessions: assent verify";

/** SQLite cannot read the file, so only a backup helps. */
export function malformedFile(what: string, detail: Readonly<Record<string, Json>>): LedgerError {
  return new LedgerError("store_corrupt", `${what}${RESTORE}`, detail);
}

export function beyondRepairError(what: string, { directory }: Pick<StatePaths, "directory">): LedgerError {
  const remedy = `Restore a backup, or move ${directory} away and begin a new store.`;
  return new LedgerError("store_corrupt", `${what} It cannot be repaired. ${remedy}`, { directory });
}

export function storeLost(what: string, { directory }: StatePaths): LedgerError {
  const remedy = `Put it back or restore a backup. To begin a new store instead, move ${directory} away.`;
  return new LedgerError("store_lost", `${what} ${remedy}`, { directory });
}

export function storeUnreadable(paths: StatePaths): LedgerError {
  const { directory, file } = paths;
  const remedy = "Give your user the right to read it, or choose another directory for the store.";
  const why = lacksRights(directory, 0o500) ? `its directory has mode ${modeOf(directory)}` : `its mode is ${modeOf(file)}`;
  return new LedgerError("store_unreadable", `The ledger ${file} cannot be read: ${why}. ${remedy}`, { path: file });
}

/** Drops the advice to repair. */
export function beyondRepair(error: unknown, paths: StatePaths): unknown {
  if (!(error instanceof LedgerError)) return error;
  const damage = withoutAdvice(error);
  return damage === error.message ? error : Object.assign(beyondRepairError(damage, paths), { cause: error });
}

export function withoutAdvice({ message }: LedgerError): string {
  const advice = [REPAIR, RESTORE].find((end) => message.endsWith(end));
  return advice === undefined ? message : message.slice(0, -advice.length);
}

export function listsMismatch(detail: Readonly<Record<string, Json>>): LedgerError {
  return new LedgerError(
    "store_corrupt",
    "The lists of the ledger do not match its events. Make them again: assent verify --rebuild",
    detail,
  );
}

export function ledgerReplaced(): LedgerError {
  return new LedgerError(
    "store_corrupt",
    "An older copy of the ledger was put in its place while it was open. Nothing ran. Run the command again.",
  );
}

export function storeNewer(found: number, known: number): LedgerError {
  const text = `The ledger was written by a newer Assent (schema ${found}; this program writes ${known}). It can be read, not written: use the newer one.`;
  return new LedgerError("store_newer", text, { found, known });
}

/** Reads the owner of byte 120 of the `-shm` file, SQLite's write lock. Linux only. */
function lockHolder(file: string): number | undefined {
  const shm = statSync(`${file}-shm`, { throwIfNoEntry: false });
  if (!shm || process.platform !== "linux") return undefined;
  for (const line of readFileSync("/proc/locks", "utf8").split("\n")) {
    const [, , , access, pid, place, start, end] = line.split(/\s+/);
    const inode = Number(place?.split(":")[2]);
    if (access === "WRITE" && inode === shm.ino && Number(start) <= 120 && Number(end) >= 120) return Number(pid);
  }
  return undefined;
}

export function tryStat(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (error instanceof Error && "code" in error) return undefined;
    throw error;
  }
}

/** SQLite reports an exceeded quota as an I/O error, so this tries a write. */
function hasSpace({ directory }: StatePaths): boolean {
  const probe = join(directory, `probe-${process.pid}`);
  try {
    const handle = openSync(probe, "w", 0o600);
    try {
      writeSync(handle, Buffer.alloc(65_536), 0, 65_536, 0);
    } finally {
      closeSync(handle);
    }
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT"));
  } finally {
    rmSync(probe, { force: true });
  }
}
