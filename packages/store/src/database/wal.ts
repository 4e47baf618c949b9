import type { Database } from "./database.ts";

/** About 4,000 pages: hot pages are then written many times to the log and once to the database. */
const LIMIT = 16_777_216;
/** What a commit writes besides its events: the tail pages of tables and indexes. */
const COMMIT_BYTES = 32_768;

/** Moves the write-ahead log into the database now and then, off the path of any promise. */
export type WalKeeper = { readonly grown: (bytes: number) => void; readonly stop: () => void };

/** `failed` is told when it cannot be moved, which SQLite by itself would not say. */
export function makeLogKeeper(database: Database, failed: (error: unknown) => void): WalKeeper {
  let size = 0;
  let due: NodeJS.Immediate | undefined;
  const move = (): void => {
    due = undefined;
    size = 0;
    try {
      database.exec("pragma wal_checkpoint(passive)");
    } catch (error) {
      failed(error);
    }
  };
  return {
    grown: (bytes) => {
      size += COMMIT_BYTES + bytes;
      if (size > LIMIT) due ??= setImmediate(move);
    },
    stop: () => {
      if (due) clearImmediate(due);
    },
  };
}
