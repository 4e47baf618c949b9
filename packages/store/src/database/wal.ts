import type { Database } from "./database.ts";

/** About 4,000 pages. Pages that change often are then written to the database only once. */
const LIMIT = 16_777_216;
/** An estimate of the index pages that a commit writes besides its events. */
const COMMIT_BYTES = 16_384;

/** Checkpoints the write-ahead log now and then, outside of any commit. */
export type WalKeeper = { readonly grown: (bytes: number) => void; readonly stop: () => void };

/** SQLite does not report a failed checkpoint by itself, so `failed` receives it. */
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
