import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import { errorCode, messageOf } from "@assent/core";
import type { ProblemType } from "./problem.ts";
import { createPlaceFinder, type TextPlace } from "./text-place.ts";

const MAX_BYTES = 1_048_576;

/** A file's text, its absence, or why it cannot be used. */
export type FileReading =
  | { readonly text: string; readonly mark: "" | "\uFEFF" }
  | { readonly absent: true }
  | { readonly fault: FileFault };

export type FileFault = {
  readonly type: Extract<ProblemType, "settings_unreadable" | "settings_insecure" | "settings_syntax">;
  readonly message: string;
  readonly hint: string;
  readonly place: TextPlace;
};

/** Reads a settings file. With `owner`, no other user may be able to write it. */
export function readSettingsFile(file: string, owner?: number): FileReading {
  let descriptor: number;
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK); // a FIFO without a writer must not block the start
  } catch (error) {
    return isAbsent(file, error) ? { absent: true } : unreadable(file, error);
  }
  try {
    return readOpen(file, descriptor, owner);
  } catch (error) {
    return unreadable(file, error);
  } finally {
    closeSync(descriptor);
  }
}

/** Checks the open file, so that what was checked is what is read. */
function readOpen(file: string, descriptor: number, owner: number | undefined): FileReading {
  const stats = fstatSync(descriptor);
  if (!stats.isFile()) return unreadable(file, new Error("it is not a regular file"));
  const insecure = owner === undefined ? undefined : findInsecurity(file, stats, owner);
  if (insecure) return { fault: { type: "settings_insecure", place: FILE_START, ...insecure } };
  if (stats.size > MAX_BYTES) return tooLarge(file);
  const bytes = readFileSync(descriptor);
  if (bytes.length > MAX_BYTES) return tooLarge(file); // it grew since fstat
  return decodeText(bytes);
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

const FILE_START: TextPlace = { line: 1, column: 1 };

type FaultText = Pick<FileFault, "message" | "hint">;

function findInsecurity(
  file: string,
  { mode, uid }: { readonly mode: number; readonly uid: number },
  owner: number,
): FaultText | undefined {
  if ((mode & 0o022) !== 0) return { message: `Other users can change ${file}. Run: chmod go-w ${file}`, hint: `chmod go-w ${file}` };
  if (uid === owner) return undefined;
  const hint = `chown ${owner === 0 ? "root" : owner} ${file}`;
  return { message: `${file} belongs to user ${uid}, who can change it. Run: ${hint}`, hint };
}

/** Strict, because an invalid byte could hide part of a rule. */
function decodeText(bytes: Buffer): FileReading {
  try {
    const mark = bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? "\uFEFF" : "";
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), mark };
  } catch {
    const lossy = bytes.toString("utf8");
    const place = createPlaceFinder(lossy)(Math.max(0, lossy.indexOf("\uFFFD")));
    return { fault: { type: "settings_syntax", message: "This byte is not valid UTF-8.", hint: "Save the file as UTF-8.", place } };
  }
}

function tooLarge(file: string): FileReading {
  const message = `${file} is larger than 1 MiB (${MAX_BYTES} bytes).`;
  return { fault: { type: "settings_syntax", message, hint: "Remove settings you don't need.", place: FILE_START } };
}

function unreadable(file: string, error: unknown): FileReading {
  const message = `${file} cannot be read: ${messageOf(error)}`;
  return { fault: { type: "settings_unreadable", message, hint: "Make it a file you can read, or remove it.", place: FILE_START } };
}

/** A broken link is not absent: its target may have held a deny. */
function isAbsent(file: string, error: unknown): boolean {
  if (errorCode(error) === "ENOTDIR") return true;
  return errorCode(error) === "ENOENT" && lstatSync(file, { throwIfNoEntry: false }) === undefined;
}
