import { type Stats } from "node:fs";
import { type FileHandle } from "node:fs/promises";
/** An opened regular file and what the system says about it. */
export type RegularFile = {
  readonly handle: FileHandle;
  readonly stats: Stats;
};
/**
 * Opens a file only if it is a regular one, links followed. A FIFO, socket or device is never waited for, and normally not even opened, since opening alone can act on it:
 * it is looked at first, opened without blocking, and looked at again. Rejects with code `EISDIR` for a directory and `ERR_NOT_REGULAR_FILE` for the rest.
 */
export declare function openRegular(path: string, flags?: number): Promise<RegularFile>;
