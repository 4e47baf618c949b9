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
 * for the disk, and then becomes visible without another report. So a report is followed by a few looks. The first one waits a little, because every
 * commit makes several reports. Those of this process do, too.
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
  const look = (): void => {
    const now = read();
    if (now === seen && now !== undefined) return;
    seen = now;
    changed();
  };
  const lookAtFiles = (): void => {
    try {
      files.check();
      look();
    } catch (error) {
      lost(error);
    }
  };
  let again: NodeJS.Timeout | undefined;
  let isSoon = false;
  const lookIn = (waitMs: number): void => {
    clearTimeout(again);
    again = setTimeout(() => {
      isSoon = false;
      look();
      if (waitMs < LATE_MS) lookIn(waitMs * 2); // even if something was new, because the report may be about a later commit
    }, waitMs).unref();
  };
  const timer = setInterval(lookAtFiles, LOOK_MS);
  const watcher = tryWatch(directory, (event, name) => {
    if (name !== null && !name.startsWith(basename(file))) return;
    if (event === "rename") return lookAtFiles(); // a file was made, moved or deleted
    if (!isSoon) lookIn(SOON_MS);
    isSoon = true;
  });
  if (watcher) timer.unref();
  return () => {
    clearInterval(timer);
    clearTimeout(again);
    watcher?.close();
  };
}

/** Undefined if the system has no watches left. */
function tryWatch(directory: string, changed: (event: string, name: string | null) => void): FSWatcher | undefined {
  try {
    const watcher = watchFile(directory, (event, name) => changed(event, name));
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch (error) {
    if (error instanceof Error && "code" in error) return undefined;
    throw error;
  }
}
