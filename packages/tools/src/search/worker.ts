import { closeSync, readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { type OpenedFile, openRealPath } from "../files/opened-as.ts";
import { type FoundFile, type Search, searchText } from "./lines.ts";
import type { JavaScriptPattern } from "./pattern.ts";

/** What a worker starts with. It answers each list of paths with the files that match. */
export type SearchWorkerStart = { readonly search: Search; readonly pattern: JavaScriptPattern; readonly maxBytes: number };

const { search, pattern, maxBytes }: SearchWorkerStart = workerData;

parentPort?.on("message", (paths: readonly string[]) => parentPort?.postMessage(paths.flatMap(searchFile)));

function searchFile(path: string): readonly FoundFile[] {
  const file = openRealPath(path);
  if (!file) return [];
  try {
    const text = readText(file);
    const found = text === undefined ? undefined : searchText(text, search, pattern);
    return found ? [{ path, ...found, ...(file.linked && { linked: file.linked }) }] : [];
  } finally {
    closeSync(file.fd);
  }
}

/** Undefined for a file that is binary, too large or unreadable. */
function readText({ fd, size }: OpenedFile): string | undefined {
  try {
    return size <= maxBytes ? decodeText(readFileSync(fd)) : undefined;
  } catch {
    return undefined;
  }
}

function decodeText(bytes: Buffer): string | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  return bytes.includes(0) ? undefined : new TextDecoder().decode(bytes);
}
