import { isUtf8 } from "node:buffer";
import { closeSync, readFileSync } from "node:fs";
import { type LinkedFile, openRealPath } from "../files/opened-as.ts";

/** Why a file is not looked into. */
export type SkipReason = "binary" | "not_utf8" | "too_large" | "unreadable" | "sensitive";

/** A file's bytes, and their text without the mark that some files begin with. */
export type SourceText = {
  readonly bytes: Buffer;
  readonly text: string;
  readonly mark: string;
  /** Set if the file has other names. */
  readonly linked?: LinkedFile;
};

const MAX_BYTES = 2 * 1024 * 1024;
const MARK = "\ufeff";

/**
 * Reads a file that is to be parsed; a word says why it is left out. A small file is read at once: waiting for each of its system calls takes many times as
 * long as they do, and there may be thousands of files.
 */
export function readSource(path: string): SourceText | SkipReason {
  const file = openRealPath(path);
  if (!file) return "unreadable"; // gone since it was found, or not for us to read: it is counted, and the others go on
  try {
    const source = file.size > MAX_BYTES ? "too_large" : decodeSource(readFileSync(file.fd));
    return typeof source === "string" || !file.linked ? source : { ...source, linked: file.linked };
  } catch {
    return "unreadable";
  } finally {
    closeSync(file.fd);
  }
}

function decodeSource(bytes: Buffer): SourceText | SkipReason {
  if (bytes.length > MAX_BYTES) return "too_large";
  if (bytes.includes(0)) return "binary";
  if (!isUtf8(bytes)) return "not_utf8";
  const text = bytes.toString("utf8");
  return text.startsWith(MARK) ? { bytes, text: text.slice(1), mark: MARK } : { bytes, text, mark: "" };
}
