import { accessSync, chmodSync, closeSync, constants, fsyncSync, lstatSync, mkdirSync, openSync, readdirSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { LedgerError } from "@assent/core";
import { octal, type StatePaths } from "./state-paths.ts";
import { beyondRepairError, storeLost, storeUnreadable } from "./store-error.ts";

/** A warning for people about the state of a store. */
export type StoreWarning = {
  readonly type:
    | "store_permissions"
    | "store_restored"
    | "store_unreachable"
    | "store_reachable"
    | "lease_failed"
    | "subscriber_failed"
    | "snapshot_mismatch";
  readonly message: string;
};

/** False only if there never was a ledger. Throws `store_unreadable`, `store_unsafe_location` or `store_lost`. */
export function hasLedger(paths: StatePaths): boolean {
  try {
    if (!exists(paths.directory)) return false;
    inspect(paths.directory, "directory");
    if (inspect(paths.file, "file")) return true;
    const left = [paths.idFile, `${paths.file}-wal`, `${paths.file}-shm`].find(exists) ?? [paths.output, paths.torn].find(hasEntries);
    if (left === undefined) return false;
    throw storeLost(`The ledger ${paths.file} is missing, but ${left} still exists.`, paths);
  } catch (error) {
    throw isCode(error, "EACCES") || isCode(error, "EPERM") ? storeUnreadable(paths) : error;
  }
}

/** Tightens loose modes. Throws `store_unreadable`, or `store_corrupt` for an empty ledger. */
export function prepareDirectory(paths: StatePaths): readonly StoreWarning[] {
  refuseUnreadable(paths);
  if (inspect(paths.file, "file")?.size === 0) throw beyondRepairError(`The ledger ${paths.file} is empty (0 bytes).`, paths);
  return looseModes(paths).map(restrictMode);
}

export function makeStateDirectory({ directory }: StatePaths): void {
  if (exists(directory)) return;
  makeDirectory(directory);
  syncDirectory(dirname(directory));
}

/** SQLite only says that the file cannot be opened. */
export function refuseUnreadable(paths: StatePaths): void {
  try {
    accessSync(paths.file, constants.R_OK);
  } catch (error) {
    throw isCode(error, "EACCES") || isCode(error, "EPERM") ? storeUnreadable(paths) : error;
  }
}

export function noLedger({ directory }: StatePaths): Error {
  return Object.assign(new Error(`There is no ledger in ${directory}.`), { code: "ENOENT" });
}

export type LooseMode = { readonly path: string; readonly mode: number; readonly wanted: number };

export function looseModes({ directory, file, idFile, output, torn, marks, locks }: StatePaths): readonly LooseMode[] {
  const wanted: readonly (readonly [string, number])[] = [
    [directory, 0o700],
    [output, 0o700],
    [torn, 0o700],
    [marks, 0o700],
    [locks, 0o700],
    [file, 0o600],
    [idFile, 0o600],
    [`${file}-wal`, 0o600],
    [`${file}-shm`, 0o600],
  ];
  const found: LooseMode[] = [];
  for (const [path, mode] of wanted) {
    const stats = inspect(path, mode === 0o700 ? "directory" : "file");
    if (stats && (stats.mode & 0o077) !== 0) found.push({ path, mode: stats.mode & 0o777, wanted: mode });
  }
  return found;
}

/** SQLite gives `-wal` and `-shm` the same mode. */
export function createPrivateFile(file: string): void {
  const { O_CREAT, O_EXCL, O_RDWR, O_NOFOLLOW } = constants;
  closeSync(openSync(file, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, 0o600));
  syncDirectory(dirname(file));
}

/** Node's `recursive` never returns in /proc. */
function makeDirectory(directory: string): void {
  const above = dirname(directory);
  if (!exists(above)) makeDirectory(above);
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if (isCode(error, "EEXIST")) return; // another process made it in between
    throw isCode(error, "ENOENT") || isCode(error, "ENOTDIR")
      ? unsafeLocation(directory, "cannot be made: nothing can be made there")
      : error;
  }
}

function inspect(path: string, kind: "directory" | "file"): Stats | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return undefined;
  const right = kind === "directory" ? stats.isDirectory() : stats.isFile();
  if (!right) throw unsafeLocation(path, stats.isSymbolicLink() ? "is a symbolic link" : `is not a ${kind}`);
  if (process.getuid && stats.uid !== process.getuid()) throw unsafeLocation(path, "belongs to another user");
  return stats;
}

function unsafeLocation(path: string, what: string): LedgerError {
  return new LedgerError("store_unsafe_location", `${path} ${what}. Choose another directory for the store.`, { path });
}

function restrictMode({ path, mode, wanted }: LooseMode): StoreWarning {
  chmodSync(path, wanted);
  return { type: "store_permissions", message: `${path} had mode ${octal(mode)}; it is ${octal(wanted)} now.` };
}

function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (isCode(error, "ENOTDIR")) return false; // the parent is a file
    throw error;
  }
}

function hasEntries(directory: string): boolean {
  return exists(directory) && readdirSync(directory).length > 0;
}

/** Makes created and removed names survive a power cut. */
export function syncDirectory(directory: string): void {
  const handle = openSync(directory, constants.O_RDONLY);
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
