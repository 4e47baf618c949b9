import { LedgerError } from "@assent/core";
import type { StatePaths } from "./state-paths.ts";
import { tryStat } from "./store-error.ts";

/** `check` throws `store_lost` once a file is no longer at its path. */
export type StoreFiles = { readonly check: () => void };

type OpenFile = { readonly path: string; readonly device: number; readonly inode: number; size: number };

/** A deleted, replaced or emptied file still takes every write, but the records are lost when this process ends. */
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
