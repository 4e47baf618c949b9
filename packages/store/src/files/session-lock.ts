import { closeSync, constants, mkdirSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type Lease, type Ledger, LedgerError } from "@assent/core";
import { BUSY_MS, type Database, type OpenDatabase, query } from "../database/database.ts";
import { primaryCode, SQLITE, sqliteCode } from "../database/sqlite-code.ts";
import type { OpenStore } from "../open/open-store.ts";
import { staleWriter } from "../write/append.ts";
import type { StatePaths } from "./state-paths.ts";
import { storeError, tryStat } from "./store-error.ts";

/** Returns a function that releases the lock; undefined if any process holds it. */
export type TryLock = (session: string) => (() => void) | undefined;

export type SessionLocks = { readonly tryLock: TryLock; readonly close: () => void };

type LockConnection = { readonly database: Database; readonly file: string; readonly inode: number };

/** Free connections kept open, because opening one costs more than the lock. */
const KEPT_OPEN = 16;

/**
 * The system releases these locks when a process ends. Node has no `flock`, so each is SQLite's lock on an empty database file. Do not open
 * the file by other means: closing it would drop this process's locks.
 */
export function makeSessionLocks({ paths, files }: Pick<OpenStore, "paths" | "files">, open: OpenDatabase): SessionLocks {
  const connections = new Map<string, LockConnection>();
  const disconnect = (session: string): void => {
    connections.get(session)?.database.close();
    connections.delete(session);
  };
  const connect = (session: string): Database => {
    const known = connections.get(session);
    if (known && tryStat(known.file)?.ino === known.inode) return known.database;
    disconnect(session);
    files.check(); // create no lock file if the store is gone
    makeLockFile(paths, session);
    const file = lockFile(paths, session);
    const database = open(file, { readOnly: false, timeout: 0 });
    connections.set(session, { database, file, inode: tryStat(file)?.ino ?? 0 });
    database.exec("pragma journal_mode=memory"); // otherwise every lock creates and removes a journal file
    return database;
  };
  const closeUnused = (): void => {
    for (const [session, { database }] of connections) {
      if (connections.size <= KEPT_OPEN) return;
      if (!database.isTransaction) disconnect(session);
    }
  };
  return {
    tryLock: (session) => {
      try {
        const database = connect(session);
        if (database.isTransaction) return undefined;
        database.exec("begin immediate");
        return () => {
          database.exec("rollback");
          closeUnused();
        };
      } catch (error) {
        disconnect(session);
        if (primaryCode(sqliteCode(error) ?? 0) === SQLITE.BUSY) return undefined;
        throw storeError(error, paths);
      }
    },
    close: () => {
      for (const session of connections.keys()) disconnect(session);
    },
  };
}

export function removeLock(paths: StatePaths, session: string): void {
  rmSync(lockFile(paths, session), { force: true });
}

function lockFile({ locks }: StatePaths, session: string): string {
  return join(locks, `${encodeURIComponent(session)}.lock`);
}

function makeLockFile(paths: StatePaths, session: string): void {
  const { O_CREAT, O_EXCL, O_RDWR, O_NOFOLLOW } = constants;
  ignoreExisting(() => mkdirSync(paths.locks, { mode: 0o700 }));
  ignoreExisting(() => closeSync(openSync(lockFile(paths, session), O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, 0o600)));
}

function ignoreExisting(make: () => void): void {
  try {
    make();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}

const RETRY_MS = 20;

/** Takes the lock once, however often the session is held. */
export function makeSessionHold({ database, paths }: Pick<OpenStore, "database" | "paths">, tryLock: TryLock): Ledger["hold"] {
  const epochOf = query<{ epoch: number }>(database, "select epoch from sessions where session = ?");
  const held = new Map<string, { users: number; readonly unlock: () => void }>();
  const enter = ({ session, epoch }: Lease): (() => void) | undefined => {
    const name = `${session} ${epoch}`;
    const unlock = held.has(name) ? undefined : tryLock(session);
    if (unlock) held.set(name, { users: 0, unlock });
    const lock = held.get(name);
    if (!lock) return undefined;
    lock.users += 1;
    return () => {
      lock.users -= 1;
      if (lock.users > 0) return;
      held.delete(name);
      lock.unlock();
    };
  };
  /** While the lock is held, the epoch cannot change. */
  const currentEpoch = ({ session }: Lease, release: (() => void) | undefined): number | undefined => {
    try {
      return epochOf.get(session)?.epoch;
    } catch (error) {
      release?.();
      throw storeError(error, paths);
    }
  };
  return async (lease) => {
    for (let left = BUSY_MS / RETRY_MS; left > 0; left -= 1) {
      const release = enter(lease);
      const epoch = currentEpoch(lease, release);
      if (release && epoch === lease.epoch) return release;
      release?.();
      if (epoch !== lease.epoch) throw staleWriter(lease, epoch);
      await wait(RETRY_MS); // another process is taking the session over and holds the lock until that is committed
    }
    throw new LedgerError("store_locked", `The lock of session ${lease.session} was not free for ${BUSY_MS / 1_000} s. Try again.`);
  };
}
