import { isUtf8 } from "node:buffer";
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { isOpenedAs } from "../opened-as.ts";

/** Why a file is not looked into. */
export type SkipReason = "binary" | "not_utf8" | "too_large" | "unreadable" | "sensitive";

/** A file's bytes, and their text without the mark that some files begin with. */
export type SourceText = { readonly bytes: Buffer; readonly text: string; readonly mark: string };

const MAX_BYTES = 2 * 1024 * 1024;
const MARK = "\ufeff";

/** Reads a file that is to be parsed; a word says why it is left out. */
export function readSource(path: string): SourceText | SkipReason {
  const bytes = bytesOf(path);
  if (typeof bytes === "string") return bytes;
  if (bytes.includes(0)) return "binary";
  if (!isUtf8(bytes)) return "not_utf8";
  const text = bytes.toString("utf8");
  return text.startsWith(MARK) ? { bytes, text: text.slice(1), mark: MARK } : { bytes, text, mark: "" };
}

/**
 * A small file is read at once: waiting for each of its four system calls takes many times as long as they do, and there may be thousands of files.
 * It is opened without waiting for anything and as what it is, not through a link.
 */
function bytesOf(path: string): Buffer | SkipReason {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_NOFOLLOW);
    const stats = fstatSync(file);
    if (!stats.isFile() || !isOpenedAs(file, path)) return "unreadable";
    if (stats.size > MAX_BYTES) return "too_large";
    const bytes = readFileSync(file);
    return bytes.length > MAX_BYTES ? "too_large" : bytes;
  } catch {
    return "unreadable"; // gone since it was found, or not for us to read: it is counted, and the others go on
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
