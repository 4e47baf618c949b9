import { constants, type Stats } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";

/** An opened regular file and what the system says about it. */
export type RegularFile = { readonly handle: FileHandle; readonly stats: Stats };

/**
 * Opens a file only if it is a regular one, links followed. A FIFO, socket or device is never waited for, and normally not even opened, since opening alone can act on it:
 * it is looked at first, opened without blocking, and looked at again. Rejects with code `EISDIR` for a directory and `ERR_NOT_REGULAR_FILE` for the rest.
 */
export async function openRegular(path: string, flags: number = constants.O_RDONLY): Promise<RegularFile> {
  refuseOthers(path, await stat(path));
  const handle = await open(path, flags | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const stats = await handle.stat();
    refuseOthers(path, stats);
    return { handle, stats };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function refuseOthers(path: string, stats: Stats): void {
  if (stats.isFile()) return;
  const code = stats.isDirectory() ? "EISDIR" : "ERR_NOT_REGULAR_FILE";
  throw Object.assign(new Error(`${path} is ${stats.isDirectory() ? "a directory" : "not a regular file"}`), { code });
}

/** Makes a file, for its owner alone, and opens it for writing. Rejects with `EEXIST` where something has that name, a link too. */
export function openNew(path: string): Promise<FileHandle> {
  return open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
}
