import { createHash } from "node:crypto";
import type { RegularFile } from "@assent/host";
import { openRegular } from "@assent/host";

const CHUNK = 256 * 1024;

/** Opens a regular file for the time of `use`, links followed. */
export async function withRegularFile<T>(path: string, use: (file: RegularFile) => Promise<T>): Promise<T> {
  const file = await openRegular(path);
  try {
    return await use(file);
  } finally {
    await file.handle.close();
  }
}

/** The bytes of an open file, piece by piece. A piece is only valid until the next is asked for. */
export async function* pieces({ handle }: RegularFile, signal?: AbortSignal): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(CHUNK);
  for (let at = 0; ; ) {
    signal?.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, CHUNK, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** A file as it is now: its digest, and its text where it is text of a size worth comparing. */
export type CurrentFile = { readonly digest: string; readonly size: number; readonly text: string | undefined };

/** Undefined when there is no such file. */
export async function currentFile(path: string, maxText: number): Promise<CurrentFile | undefined> {
  try {
    return await withRegularFile(path, (file) => readCurrent(file, maxText));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

async function readCurrent(file: RegularFile, maxText: number): Promise<CurrentFile> {
  const hash = createHash("sha256");
  const kept: Buffer[] = [];
  let size = 0;
  for await (const piece of pieces(file)) {
    hash.update(piece);
    size += piece.length;
    if (size <= maxText) kept.push(Buffer.from(piece));
  }
  const bytes = size <= maxText ? Buffer.concat(kept) : undefined;
  return { digest: hash.digest("hex"), size, text: bytes && !bytes.includes(0) ? bytes.toString("utf8") : undefined };
}

/** The digest under which content will be found again. */
export function contentDigest(content: string): string {
  return createHash("sha256").update(content, "utf8").digest("hex");
}
