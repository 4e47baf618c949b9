import type { LinkedFile } from "../files/opened-as.ts";
import type { JavaScriptPattern } from "./pattern.ts";

export type Search = {
  readonly pattern: string;
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
  /** Number of lines around each match. */
  readonly context: number;
  readonly wanted: "files" | "count" | "content";
  /** Limit for matching lines per file. */
  readonly keep: number;
};

/** A matching line or a line of context. */
export type FoundLine = { readonly number: number; readonly text: string; readonly isMatch: boolean };

export type FoundFile = {
  readonly path: string;
  readonly count: number;
  readonly lines: readonly FoundLine[];
  /** Set if the file has other hard links. */
  readonly linked?: LinkedFile;
};

/** Yields the matches of each batch, in the order of the files. */
export type SearchEngine = (
  search: Search,
  batches: AsyncIterable<readonly string[]>,
  signal: AbortSignal,
) => AsyncIterable<readonly FoundFile[]>;

const LINE_CHARS = 500;

/** Undefined if nothing matches. */
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

/** Drops the carriage return and cuts long lines. */
export function cutLine(line: string): string {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  return text.length > LINE_CHARS ? `${text.slice(0, LINE_CHARS).toWellFormed()}… [line cut: ${text.length} characters]` : text;
}

function matchingLines(lines: readonly string[], pattern: RegExp, most: number): readonly number[] {
  const found: number[] = [];
  for (let index = 0; index < lines.length && found.length < most; index++) {
    const line = lines[index] ?? "";
    if (pattern.test(line.endsWith("\r") ? line.slice(0, -1) : line)) found.push(index);
  }
  return found;
}

/** With `multiline` a match can span lines; each of them counts. */
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
