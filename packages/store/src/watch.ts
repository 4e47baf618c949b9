import { type FSWatcher, watch as watchFile } from "node:fs";
import { basename } from "node:path";
import { type Database, query } from "./database.ts";
import { sqliteCode } from "./sqlite-code.ts";
import type { StatePaths } from "./state-paths.ts";

const LOOK_MS = 1_000;

/**
 * Calls `changed` after every commit of another process, until it is stopped. The file watch tells at once and keeps the process alive, since somebody waits;
 * a look at the data version every second covers file systems that do not tell.
 */
export function watchCommits(database: Database, { directory, file }: StatePaths, changed: () => void): () => void {
  const version = query<{ data_version: number }>(database, "pragma data_version");
  const read = (): number | undefined => {
    try {
      return version.get()?.data_version;
    } catch (error) {
      if (sqliteCode(error) !== undefined) return undefined; // whoever reads on is told
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

/** Undefined where the system has no watches left: the timer then keeps the process alive instead. */
function tryWatch(directory: string, told: (name: string | null) => void): FSWatcher | undefined {
  try {
    const watcher = watchFile(directory, (_event, name) => told(name));
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch (error) {
    if (error instanceof Error && "code" in error) return undefined;
    throw error;
  }
}
