import { type FSWatcher, watch as watchFile } from "node:fs";
import { basename } from "node:path";
import { query } from "../database/database.ts";
import { sqliteCode } from "../database/sqlite-code.ts";
import type { OpenStore } from "../open/open-store.ts";

const LOOK_MS = 1_000;

type WatchedStore = Pick<OpenStore, "database" | "paths" | "files">;

/** The file watch keeps the process alive; a check every second covers file systems that report no changes. */
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
    try {
      files.check();
    } catch (error) {
      lost(error);
      return;
    }
    const now = read();
    if (now === seen && now !== undefined) return;
    seen = now;
    changed();
  };
  const timer = setInterval(look, LOOK_MS);
  const watcher = tryWatch(directory, (name) => {
    if (name === null || name.startsWith(basename(file))) look();
  });
  if (watcher) timer.unref();
  return () => {
    clearInterval(timer);
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
