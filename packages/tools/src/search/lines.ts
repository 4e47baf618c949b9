import type { LinkedFile } from "../files/opened-as.ts";
import type { JavaScriptPattern } from "./pattern.ts";

/** What is sought in every file, and how much of what is found is kept. */
export type Search = {
  readonly pattern: string;
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
  /** Lines before and after each that matches. */
  readonly context: number;
  /** Only whether there is anything, only how much, or also what. */
  readonly wanted: "files" | "count" | "content";
  /** The most matching lines that are kept of one file. */
  readonly keep: number;
};

/** A line of a file; it matches, or stands beside one that does. */
export type FoundLine = { readonly number: number; readonly text: string; readonly isMatch: boolean };

/** A file in which something was found. */
export type FoundFile = {
  readonly path: string;
  readonly count: number;
  readonly lines: readonly FoundLine[];
  /** Set if the file that was searched has other names. */
  readonly linked?: LinkedFile;
};

/** Finds files' matches, batch by batch and in the order of the files. */
export type SearchEngine = (
  search: Search,
  batches: AsyncIterable<readonly string[]>,
  signal: AbortSignal,
) => AsyncIterable<readonly FoundFile[]>;

/** More of a line is not shown. */
const LINE_CHARS = 500;

/** The lines of a text that match; undefined when there are none. */
export function searchText(text: string, search: Search, { source, flags }: JavaScriptPattern): Omit<FoundFile, "path"> | undefined {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const last = search.wanted === "files" ? 1 : Number.POSITIVE_INFINITY;
  const matching = search.multiline
    ? matchingSpans(lines, new RegExp(source, `${flags}g`), last)
    : matchingLines(lines, new RegExp(source, flags), last);
  if (matching.length === 0) return undefined;
  return { count: matching.length, lines: search.wanted === "content" ? withContext(lines, matching.slice(0, search.keep), search) : [] };
}

/** A line without its line break, and not longer than people want to read. */
export function cutLine(line: string): string {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  return text.length > LINE_CHARS ? `${text.slice(0, LINE_CHARS).toWellFormed()}… [line cut: ${text.length} characters]` : text;
}

/** By index, in order. */
function matchingLines(lines: readonly string[], pattern: RegExp, most: number): readonly number[] {
  const found: number[] = [];
  for (let index = 0; index < lines.length && found.length < most; index++) {
    const line = lines[index] ?? "";
    if (pattern.test(line.endsWith("\r") ? line.slice(0, -1) : line)) found.push(index);
  }
  return found;
}

/** The same where a match may go over several lines: each of them counts. */
function matchingSpans(lines: readonly string[], pattern: RegExp, most: number): readonly number[] {
  const plain = lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
  const text = plain.join("\n");
  const found: number[] = [];
  let line = 0;
  let end = plain[0]?.length ?? 0;
  const lineAt = (at: number): number => {
    for (; at > end && line < plain.length - 1; line++) end += 1 + (plain[line + 1]?.length ?? 0);
    return line;
  };
  for (const { index, 0: match } of text.matchAll(pattern)) {
    const first = lineAt(index);
    const final = lineAt(index + Math.max(0, match.replace(/\n$/, "").length));
    for (let one = Math.max(first, (found.at(-1) ?? -1) + 1); one <= final; one++) found.push(one);
    if (found.length >= most) break;
  }
  return found;
}

function withContext(lines: readonly string[], matching: readonly number[], { context }: Search): readonly FoundLine[] {
  const matches = new Set(matching);
  const shown: FoundLine[] = [];
  let next = 0;
  for (const index of matching) {
    const end = Math.min(lines.length - 1, index + context);
    for (let one = Math.max(next, index - context); one <= end; one++) {
      shown.push({ number: one + 1, text: cutLine(lines[one] ?? ""), isMatch: matches.has(one) });
    }
    next = end + 1;
  }
  return shown;
}
