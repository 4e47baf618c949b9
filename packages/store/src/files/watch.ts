import { type FSWatcher, watch as watchFile } from "node:fs";
import { basename } from "node:path";
import { query } from "../database/database.ts";
import { sqliteCode } from "../database/sqlite-code.ts";
import type { OpenStore } from "../open/open-store.ts";

const LOOK_MS = 1_000;

type WatchedStore = Pick<OpenStore, "database" | "paths" | "files">;

/** First and longest wait before looking again. */
const [SOON_MS, LATE_MS] = [2, 256];

/**
 * The file watch keeps the process alive; a check every second covers file systems that report no changes. A commit writes to the file first, waits
 * for the disk, and then becomes visible without another report. So a report that shows nothing new is followed by a few more looks.
 */
export function watchCommits({ database, paths, files }: WatchedStore, changed: () => void, lost: (error: unknown) => void): () => void {
  const { directory, file } = paths;
  const version = query<{ data_version: number }>(database, "pragma data_version");
  const read = (): number | undefined => {
    try {
      return version.get()?.data_version;
    } catch (error) {
      if (sqliteCode(error) !== undefined) return undefined; // the next read reports it
      throw error;
    }
  };
  let seen = read();
  /** True if there is nothing new. */
  const look = (): boolean => {
    try {
      files.check();
    } catch (error) {
      lost(error);
      return false;
    }
    const now = read();
    if (now === seen && now !== undefined) return true;
    seen = now;
    changed();
    return false;
  };
  let again: NodeJS.Timeout | undefined;
  const lookUntilSeen = (waitMs: number): void => {
    clearTimeout(again);
    if (look() && waitMs <= LATE_MS) again = setTimeout(lookUntilSeen, waitMs, waitMs * 2).unref();
  };
  const timer = setInterval(look, LOOK_MS);
  const watcher = tryWatch(directory, (name) => {
    if (name === null || name.startsWith(basename(file))) lookUntilSeen(SOON_MS);
  });
  if (watcher) timer.unref();
  return () => {
    clearInterval(timer);
    clearTimeout(again);
    watcher?.close();
  };
}

/** Undefined if the system has no watches left. */
function tryWatch(directory: string, changed: (name: string | null) => void): FSWatcher | undefined {
  try {
    const watcher = watchFile(directory, (_event, name) => changed(name));
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch (error) {
    if (error instanceof Error && "code" in error) return undefined;
    throw error;
  }
}
