import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { isOpenedAs } from "./opened-as.ts";
import { type FoundFile, type Search, searchText } from "./search-lines.ts";
import type { JavaScriptPattern } from "./search-pattern.ts";

/** What a worker is started with. It searches the files it is sent and answers with those in which it found something. */
export type WorkerStart = { readonly search: Search; readonly pattern: JavaScriptPattern; readonly maxBytes: number };

const { search, pattern, maxBytes }: WorkerStart = workerData;

parentPort?.on("message", (paths: readonly string[]) => parentPort?.postMessage(paths.flatMap(searchFile)));

function searchFile(path: string): readonly FoundFile[] {
  const text = textOf(path);
  const found = text === undefined ? undefined : searchText(text, search, pattern);
  return found ? [{ path, ...found }] : [];
}

/** Undefined: it is no text, too large, or went away. */
function textOf(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const stats = fstatSync(file);
    return stats.isFile() && stats.size <= maxBytes && isOpenedAs(file, path) ? decoded(readFileSync(file)) : undefined;
  } catch {
    return undefined; // what cannot be read is not searched, as other tools do it
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function decoded(bytes: Buffer): string | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  return bytes.includes(0) ? undefined : new TextDecoder().decode(bytes);
}
