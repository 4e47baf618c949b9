import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/** Makes a file, for its owner alone, and opens it for writing. Rejects with `EEXIST` where something has that name, a link too. */
export function openNew(path: string): Promise<FileHandle> {
  return open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
}
