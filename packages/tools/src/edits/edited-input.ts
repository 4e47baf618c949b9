import { closeSync, readFileSync } from "node:fs";
import { lineChanges } from "@assent/core/parts";
import { openRealPath } from "../files/opened-as.ts";
import { findBytes } from "./find-bytes.ts";
import { toPlainBreaks } from "./line-breaks.ts";

type EditInput = { readonly file_path: string; readonly old_string: string; readonly new_string: string; readonly replace_all?: boolean };

/** Makes a unique edit that turns a file into `content`, from the first changed line to the last. */
export function makeEditInput(path: string, input: EditInput, content: string): EditInput {
  const before = toPlainBreaks(fileText(path));
  const after = toPlainBreaks(content);
  const changes = lineChanges(before, after);
  const first = changes[0];
  const last = changes.at(-1);
  const { file_path, old_string } = input;
  if (!first || !last) return { file_path, old_string, new_string: old_string };
  const tail = before.length - last.end;
  const bytes = Buffer.from(before);
  for (let around = 0; ; around = 2 * around + 1) {
    const start = linesUp(before, first.start, around);
    const end = linesDown(before, last.end, around);
    const sought = before.slice(start, end);
    if ((start === 0 && end === before.length) || isSingle(bytes, sought)) {
      return { file_path, old_string: sought, new_string: after.slice(start, after.length - tail + (end - last.end)) };
    }
  }
}

function fileText(path: string): string {
  const file = openRealPath(path);
  if (!file) throw new Error(`${path} is not a regular file that can be read, or is a link now`);
  try {
    return readFileSync(file.fd, "utf8");
  } finally {
    closeSync(file.fd);
  }
}

function linesUp(text: string, from: number, lines: number): number {
  let at = from;
  for (let line = 0; line < lines && at > 0; line++) at = at === 1 ? 0 : text.lastIndexOf("\n", at - 2) + 1;
  return at;
}

function linesDown(text: string, from: number, lines: number): number {
  let at = from;
  for (let line = 0; line < lines && at < text.length; line++) at = text.indexOf("\n", at) + 1 || text.length;
  return at;
}

function isSingle(text: Buffer, sought: string): boolean {
  let count = 0;
  findBytes(text, Buffer.from(sought), { apart: false, found: () => ++count < 2 });
  return count === 1;
}
