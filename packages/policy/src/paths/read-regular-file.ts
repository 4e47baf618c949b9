import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

/** The bytes of a file. Throws if it is not a regular file: opening a FIFO would block the process, and a device may never end. */
export function readRegularFile(path: string): Buffer {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(descriptor).isFile()) throw new Error(`${path} is not a regular file.`);
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
