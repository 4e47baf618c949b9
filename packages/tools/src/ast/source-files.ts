import { isUtf8 } from "node:buffer";
import { closeSync, readSync } from "node:fs";
import type { PathLookup } from "@assent/policy";
import { type LinkedFile, openRealPath } from "../files/opened-as.ts";
import type { WorkLimits } from "./in-order.ts";
import type { Target } from "./targets.ts";

export type SkipReason = "binary" | "not_utf8" | "too_large" | "unreadable" | "sensitive";

/** A file's bytes, and its text without a byte order mark. */
export type SourceText = {
  readonly bytes: Buffer;
  readonly text: string;
  readonly mark: string;
  /** Set if the file has other hard links. */
  readonly linked?: LinkedFile;
};

export type SourceFile = { readonly target: Target; readonly source: SourceText | SkipReason };

export function* readSourceFiles(targets: readonly Target[]): Generator<SourceFile> {
  for (const target of targets) yield { target, source: readSource(target.realPath) };
}

const MAX_BYTES = 2 * 1024 * 1024;
const MARK = "\ufeff";

/** Reads a source file, or returns why it is skipped. Synchronous, because async reads of many small files take much longer. */
export function readSource(path: string): SourceText | SkipReason {
  const file = openRealPath(path);
  if (!file) return "unreadable"; // gone or unreadable: counted as skipped
  try {
    const source = file.size > MAX_BYTES ? "too_large" : decodeSource(readBytes(file.fd));
    return typeof source === "string" || !file.linked ? source : { ...source, linked: file.linked };
  } catch {
    return "unreadable";
  } finally {
    closeSync(file.fd);
  }
}

let reusedBuffer: Buffer | undefined;

/** Reads an open file to its end, or one byte more than the limit. */
function readBytes(fd: number): Buffer {
  reusedBuffer ??= Buffer.allocUnsafeSlow(MAX_BYTES + 1);
  let size = 0;
  for (let read = 1; read > 0 && size < reusedBuffer.length; size += read)
    read = readSync(fd, reusedBuffer, size, reusedBuffer.length - size, null);
  return Buffer.from(reusedBuffer.subarray(0, size));
}

function decodeSource(bytes: Buffer): SourceText | SkipReason {
  if (bytes.length > MAX_BYTES) return "too_large";
  if (bytes.includes(0)) return "binary";
  if (!isUtf8(bytes)) return "not_utf8";
  const text = bytes.toString("utf8");
  return text.startsWith(MARK) ? { bytes, text: text.slice(1), mark: MARK } : { bytes, text, mark: "" };
}

/** True if the file is sensitive and its text must not be shown without asking. */
export type SensitiveSource = (target: Target, linked: LinkedFile | undefined) => boolean;

/** Checks files after reading them. A named file was judged by its name, so only another hard link to it can make it sensitive now. */
export function sensitivityTest(scope: PathLookup, cwd: string, harmless: boolean): SensitiveSource {
  return ({ path, named }, linked) => {
    if (named && !linked) return false;
    const { sensitive, isProtected } = scope(path, cwd);
    const isSecret = linked !== undefined && isProtected(linked);
    return named ? harmless && isSecret : sensitive || isSecret;
  };
}

/** Enough files to keep all threads busy, but few large ones: a tree takes many times the memory of its text. */
export const FILE_LOAD: WorkLimits<SourceFile> = {
  items: 32,
  most: 1024 * 1024,
  weight: ({ source }) => (typeof source === "string" ? 0 : source.text.length),
};
