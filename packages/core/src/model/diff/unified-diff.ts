import type { DiffStat } from "../result/result.ts";
import { type LineChange, lineChanges, splitLines } from "./line-changes.ts";

const CONTEXT = 3;

/** The two sides of a change to one file. */
export type Sides = {
  readonly name: string;
  readonly before: string | null;
  readonly after: string;
};

/** A unified diff; empty if nothing changed. */
export function unifiedDiff(sides: Sides): string {
  return diffText(sides, lineChanges(sides.before ?? "", sides.after));
}

/** A unified diff of changes that are already known. */
export function diffText({ name, before }: Omit<Sides, "after">, changes: readonly LineChange[]): string {
  if (changes.length === 0) return "";
  const shown = name.replace(/[\n\r\t]/g, (character) => JSON.stringify(character).slice(1, -1));
  const from = before === null ? "/dev/null" : `a/${shown}`;
  const hunks = groupHunks(changes).map((hunk) => hunkText(before ?? "", hunk));
  return `--- ${from}\n+++ b/${shown}\n${hunks.join("")}`;
}

/** Counts added and removed lines and characters, without line breaks. */
export function diffStat(original: string | null, proposed: string, final: string = proposed): DiffStat {
  return makeStat(lineChanges(original ?? "", proposed), final === proposed ? [] : lineChanges(proposed, final));
}

/** Counts the changes of the model and those of the person. */
export function makeStat(byModel: readonly LineChange[], byUser: readonly LineChange[] = []): DiffStat {
  const [model, user] = [countChanges(byModel), countChanges(byUser)];
  return {
    model_added_lines: model.addedLines,
    model_removed_lines: model.removedLines,
    model_added_chars: model.addedChars,
    model_removed_chars: model.removedChars,
    user_added_lines: user.addedLines,
    user_removed_lines: user.removedLines,
    user_added_chars: user.addedChars,
    user_removed_chars: user.removedChars,
  };
}

function countChanges(changes: readonly LineChange[]) {
  const total = { addedLines: 0, removedLines: 0, addedChars: 0, removedChars: 0 };
  for (const { removed, added } of changes) {
    total.addedLines += added.length;
    total.removedLines += removed.length;
    total.addedChars += charsOf(added);
    total.removedChars += charsOf(removed);
  }
  return total;
}

function charsOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length - (line.endsWith("\n") ? 1 : 0), 0);
}

/** Changes with touching contexts form one hunk. */
function groupHunks(changes: readonly LineChange[]): readonly (readonly LineChange[])[] {
  const hunks: LineChange[][] = [];
  for (const change of changes) {
    const last = hunks.at(-1)?.at(-1);
    if (last && change.line - (last.line + last.removed.length) <= 2 * CONTEXT) hunks.at(-1)?.push(change);
    else hunks.push([change]);
  }
  return hunks;
}

function hunkText(before: string, hunk: readonly LineChange[]): string {
  const [first] = hunk;
  const last = hunk.at(-1);
  if (!first || !last) return "";
  const lead = linesBefore(before, first.start);
  const tail = linesAfter(before, last.end);
  const body = hunk.map(({ removed, added, end }, index) => {
    const next = hunk[index + 1];
    return signLines("-", removed) + signLines("+", added) + (next ? signLines(" ", splitLines(before.slice(end, next.start))) : "");
  });
  const from = first.line - lead.length;
  const to = first.newLine - lead.length;
  const old = range(from, last.line + last.removed.length + tail.length - from);
  const made = range(to, last.newLine + last.added.length + tail.length - to);
  return `@@ -${old} +${made} @@\n${signLines(" ", lead)}${body.join("")}${signLines(" ", tail)}`;
}

function linesBefore(text: string, end: number): readonly string[] {
  let start = end;
  for (let lines = 0; lines < CONTEXT && start > 0; lines++) start = start === 1 ? 0 : text.lastIndexOf("\n", start - 2) + 1;
  return splitLines(text.slice(start, end));
}

function linesAfter(text: string, start: number): readonly string[] {
  let end = start;
  for (let lines = 0; lines < CONTEXT && end < text.length; lines++) end = text.indexOf("\n", end) + 1 || text.length;
  return splitLines(text.slice(start, end));
}

/** By convention an empty side names the line before it. */
function range(start: number, length: number): string {
  if (length === 1) return String(start);
  return `${length === 0 ? start - 1 : start},${length}`;
}

function signLines(sign: string, lines: readonly string[]): string {
  return lines.map((line) => (line.endsWith("\n") ? `${sign}${line}` : `${sign}${line}\n\\ No newline at end of file\n`)).join("");
}
