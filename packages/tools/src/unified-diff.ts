import type { DiffStat } from "@assent/core";
import { type Change, lineChanges } from "./line-changes.ts";

const CONTEXT = 3;

/** The two sides of a change to one file. */
export type Sides = {
  /** How the file is named in the diff. */
  readonly name: string;
  /** Null: there was no file. */
  readonly before: string | null;
  readonly after: string;
};

/** The change as a unified diff; empty when there is none. */
export function unifiedDiff({ name, before, after }: Sides): string {
  const hunks = hunksOf(lineChanges(before ?? "", after));
  if (hunks.length === 0) return "";
  const shown = name.replace(/[\n\r\t]/g, (character) => JSON.stringify(character).slice(1, -1));
  const from = before === null ? "/dev/null" : `a/${shown}`;
  return `--- ${from}\n+++ b/${shown}\n${hunks.map(hunkText).join("")}`;
}

/** What the change adds and removes; characters are those of the changed lines, without their line breaks. */
export function diffStat(original: string | null, proposed: string, final: string = proposed): DiffStat {
  const model = count(lineChanges(original ?? "", proposed));
  const user = final === proposed ? NOTHING : count(lineChanges(proposed, final));
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

const NOTHING = { addedLines: 0, removedLines: 0, addedChars: 0, removedChars: 0 };

function count(changes: readonly Change[]): typeof NOTHING {
  const total = { ...NOTHING };
  for (const { kind, lines } of changes) {
    if (kind === "same") continue;
    const chars = lines.reduce((sum, line) => sum + line.length - (line.endsWith("\n") ? 1 : 0), 0);
    total[kind === "added" ? "addedLines" : "removedLines"] += lines.length;
    total[kind === "added" ? "addedChars" : "removedChars"] += chars;
  }
  return total;
}

/** One line of a diff, with the number its side has reached. */
type Line = { readonly kind: Change["kind"]; readonly line: string; readonly from: number; readonly to: number };

/** Changed lines with their context; those whose contexts touch are one hunk. */
function hunksOf(changes: readonly Change[]): readonly (readonly Line[])[] {
  const all = numbered(changes);
  const bounds: { readonly start: number; end: number }[] = [];
  for (const [at, { kind }] of all.entries()) {
    if (kind === "same") continue;
    const last = bounds.at(-1);
    const start = Math.max(0, at - CONTEXT);
    if (last && start <= last.end) last.end = at + CONTEXT + 1;
    else bounds.push({ start, end: at + CONTEXT + 1 });
  }
  return bounds.map(({ start, end }) => all.slice(start, end));
}

function numbered(changes: readonly Change[]): readonly Line[] {
  const all: Line[] = [];
  let from = 1;
  let to = 1;
  for (const { kind, lines } of changes) {
    for (const line of lines) {
      all.push({ kind, line, from, to });
      if (kind !== "added") from++;
      if (kind !== "removed") to++;
    }
  }
  return all;
}

const SIGN = { same: " ", removed: "-", added: "+" } as const;

function hunkText(hunk: readonly Line[]): string {
  const { from, to } = hunk[0] ?? { from: 0, to: 0 };
  const removed = hunk.filter(({ kind }) => kind !== "added").length;
  const added = hunk.filter(({ kind }) => kind !== "removed").length;
  const body = hunk.map(({ kind, line }) => lineText(SIGN[kind], line));
  return `@@ -${range(from, removed)} +${range(to, added)} @@\n${body.join("")}`;
}

/** An empty side is named by the line before it. */
function range(start: number, length: number): string {
  if (length === 1) return String(start);
  return `${length === 0 ? start - 1 : start},${length}`;
}

function lineText(sign: string, line: string): string {
  return line.endsWith("\n") ? `${sign}${line}` : `${sign}${line}\n\\ No newline at end of file\n`;
}
