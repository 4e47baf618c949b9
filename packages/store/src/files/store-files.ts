import { LedgerError } from "@assent/core";
import type { StatePaths } from "./state-paths.ts";
import { tryStat } from "./store-error.ts";

/** The files of an open store: `check` throws `store_lost` once one of them is no longer the file at its path. */
export type StoreFiles = { readonly check: () => void };

type OpenFile = { readonly path: string; readonly device: number; readonly inode: number; size: number };

/**
 * Remembers the files that SQLite has open now. A file that is deleted, moved or replaced stays open and takes every write,
 * but no other process can read it and it is gone when this process ends. A database or log that is emptied takes every write, too, and cannot be
 * read afterwards. Neither of them shrinks by itself while it is open.
 */
export function watchStoreFiles({ file }: StatePaths): StoreFiles {
  const open = [file, `${file}-wal`, `${file}-shm`].flatMap((path): readonly OpenFile[] => {
    const stats = tryStat(path);
    return stats ? [{ path, device: stats.dev, inode: stats.ino, size: stats.size }] : [];
  });
  return { check: () => open.forEach(checkFile) };
}

function checkFile(known: OpenFile): void {
  const { path, device, inode, size } = known;
  const stats = tryStat(path); // an unreachable file counts as lost
  if (!stats) throw lostFile(path, "was deleted or moved");
  if (stats.dev !== device || stats.ino !== inode) throw lostFile(path, "was replaced by another file");
  if (stats.size < size) throw lostFile(path, "was emptied or cut short");
  known.size = stats.size;
}

function lostFile(path: string, what: string): LedgerError {
  const remedy = "Nothing more will run. Put the store back, then check it: assent verify. Or start a new session.";
  return new LedgerError("store_lost", `${path} ${what} while this process was using it. ${remedy}`, { path });
}
