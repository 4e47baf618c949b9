import { constants } from "node:fs";
import { errorCode } from "@assent/core";
import { nodeDigest, openRegular, type RegularFile } from "@assent/host";
import { isOpenAt, placeChangedError } from "./opened-as.ts";

const CHUNK = 256 * 1024;
/** Number of bytes to check for NUL. */
const TELLING_BYTES = 8192;

/** How often to retry a file that is being replaced. */
const MOST_TRIES = 10;

/**
 * Opens a regular file by its real path during `use`. Follows no links: the open file is compared with the path first. Rejects with
 * `ELOOP` or `ERR_PLACE_CHANGED` if a link replaced the file or a directory above it.
 */
export async function withRegularFile<T>(path: string, use: (file: RegularFile) => Promise<T>): Promise<T> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const file = await openRegular(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      if (isOpenAt(file.handle.fd, path)) return await use(file);
    } finally {
      await file.handle.close();
    }
  }
  throw placeChangedError(path);
}

/** Reads an open file in pieces. A piece is valid only until the next one. */
export async function* readPieces({ handle }: RegularFile, signal?: AbortSignal): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(CHUNK);
  for (let at = 0; ; ) {
    signal?.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, CHUNK, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

export type CurrentFile = { readonly digest: string; readonly bytes: Buffer };

/** Undefined if there is no such file. Rejects with `ERR_FILE_TOO_LARGE`. */
export async function readCurrentFile(path: string, maxBytes: number): Promise<CurrentFile | undefined> {
  try {
    const bytes = await withRegularFile(path, (file) => readAllBytes(file, maxBytes));
    return { digest: nodeDigest.sha256Bytes(bytes), bytes };
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function readAllBytes(file: RegularFile, maxBytes: number): Promise<Buffer> {
  const kept: Buffer[] = [];
  let size = 0;
  for await (const piece of readPieces(file)) {
    size += piece.length;
    if (size > maxBytes) throw Object.assign(new Error(`more than ${maxBytes} bytes`), { code: "ERR_FILE_TOO_LARGE" });
    kept.push(Buffer.from(piece));
  }
  return Buffer.concat(kept);
}

/** True if there is a NUL near the start. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, TELLING_BYTES).includes(0);
}
