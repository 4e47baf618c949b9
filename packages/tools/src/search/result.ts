import type { ToolResult } from "@assent/core";
import { hiddenText } from "../files/hidden-files.ts";
import type { FoundFile, Search } from "./lines.ts";

export type ResultOptions = {
  readonly search: Search;
  readonly isShown: (file: FoundFile) => boolean;
  readonly name: (path: string) => string;
  /** Number of hidden files, known after the search. */
  readonly hidden?: () => number;
};

/** Limit for a result, regardless of the other limits. */
const MAX_CHARS = 2_000_000;

/** Formats matches up to the limit and counts the rest. */
export async function searchResult(found: AsyncIterable<readonly FoundFile[]>, telling: ResultOptions): Promise<ToolResult> {
  const { wanted, context } = telling.search;
  const { parts, files, total, given } = await gatherMatches(found, telling);
  const hidden = telling.hidden?.() ?? 0;
  const left = hidden > 0 ? `\n[${hiddenText(hidden)}]` : "";
  if (files === 0) return { content: `No matches found.${left}` };
  const kind = wanted === "content" ? "matching lines" : "files";
  const more = total > given ? `\n[${total - given} more ${kind}; narrow the search, or raise head_limit]` : "";
  const display = `${total} ${kind} found${wanted === "content" ? ` in ${files} files` : ""}`;
  return { content: parts.join(context > 0 ? `\n${BREAK}\n` : "\n") + more + left, display };
}

type GatheredMatches = { readonly parts: string[]; files: number; total: number; given: number };

async function gatherMatches(
  found: AsyncIterable<readonly FoundFile[]>,
  { search, isShown, name }: ResultOptions,
): Promise<GatheredMatches> {
  const { wanted, keep } = search;
  const all: GatheredMatches = { parts: [], files: 0, total: 0, given: 0 };
  let chars = 0;
  const add = (file: FoundFile): void => {
    all.files++;
    all.total += wanted === "content" ? file.count : 1;
    const room = chars < MAX_CHARS ? keep - all.given : 0;
    if (room <= 0) return;
    const { text, given } = makePart(file, { search, room, name: name(file.path) });
    all.parts.push(text);
    all.given += given;
    chars += text.length;
  };
  for await (const batch of found) batch.filter(isShown).forEach(add);
  return all;
}

/** Separates lines that are not adjacent, if context is shown. */
const BREAK = "--";

type ResultPart = { readonly text: string; readonly given: number };

function makePart(file: FoundFile, { search, room, name }: { search: Search; room: number; name: string }): ResultPart {
  const { wanted, context } = search;
  if (wanted === "files") return { text: name, given: 1 };
  if (wanted === "count") return { text: `${name}:${file.count}`, given: 1 };
  const lines: string[] = [];
  let given = 0;
  let last = file.lines[0]?.number ?? 0;
  for (const { number, text, isMatch } of file.lines) {
    if (isMatch && ++given > room) break;
    if (context > 0 && number > last + 1) lines.push(BREAK);
    lines.push(isMatch ? `${name}:${number}:${text}` : `${name}-${number}-${text}`);
    last = number;
  }
  return { text: lines.join("\n"), given: Math.min(given, room) };
}
