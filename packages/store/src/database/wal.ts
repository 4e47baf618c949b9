import type { Database } from "./database.ts";

/** About 4,000 pages, so that pages that change often are rarely copied. */
const LIMIT = 16_777_216;
/** Estimated index pages per commit. */
const COMMIT_BYTES = 16_384;

export type WalKeeper = { readonly grown: (bytes: number) => void; readonly stop: () => void };

/** SQLite does not report a failed checkpoint by itself. */
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
