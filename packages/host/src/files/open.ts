import { constants, type Stats } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";

/** An open regular file with its stats. */
export type RegularFile = { readonly handle: FileHandle; readonly stats: Stats };

/** Opens a regular file, following links. Never blocks on a FIFO or device. Rejects with `EISDIR` for a directory and `ERR_NOT_REGULAR_FILE` for the rest. */
export async function openRegular(path: string, flags: number = constants.O_RDONLY): Promise<RegularFile> {
  refuseIrregular(path, await stat(path));
  const handle = await open(path, flags | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const stats = await handle.stat();
    refuseIrregular(path, stats);
    return { handle, stats };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Throws unless the file is a regular one: `EISDIR` for a directory, else `ERR_NOT_REGULAR_FILE`. */
export function refuseIrregular(path: string, stats: Stats): void {
  if (stats.isFile()) return;
  const code = stats.isDirectory() ? "EISDIR" : "ERR_NOT_REGULAR_FILE";
  throw Object.assign(new Error(`${path} is ${stats.isDirectory() ? "a directory" : "not a regular file"}`), { code });
}

/** Creates a file with mode 0600. Rejects with `EEXIST` if the name is taken, also by a link. */
export function openNew(path: string): Promise<FileHandle> {
  return open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
}
