import { isUtf8 } from "node:buffer";
import { closeSync, readFileSync } from "node:fs";
import { type LinkedFile, openRealPath } from "../files/opened-as.ts";

/** Why a file is skipped. */
export type SkipReason = "binary" | "not_utf8" | "too_large" | "unreadable" | "sensitive";

/** A file's bytes, and its text without a byte order mark. */
export type SourceText = {
  readonly bytes: Buffer;
  readonly text: string;
  readonly mark: string;
  /** Set if the file has other hard links. */
  readonly linked?: LinkedFile;
};

const MAX_BYTES = 2 * 1024 * 1024;
const MARK = "\ufeff";

/**
 * Reads a source file, or returns why it is skipped. Reads synchronously, because async reads of thousands of small files take much
 * longer.
 */
export function readSource(path: string): SourceText | SkipReason {
  const file = openRealPath(path);
  if (!file) return "unreadable"; // gone or unreadable: counted as skipped
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
