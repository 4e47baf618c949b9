import type { HtmlToken } from "./html-tokens.ts";

/** An element whose lines have a prefix: one for the first line and one for the rest. */
type Container = { readonly name: string; readonly first: string; readonly rest: string; isBegun: boolean; items: number };

/** Inline markup, written with the first word inside it, so empty markup never appears. */
type Mark = { readonly name: string; readonly open: string; readonly close: string; isWritten: boolean };

/**
 * A page that is being written. Whitespace and line breaks are held back until something follows. In headings and cells breaks become
 * spaces, and cells escape `|`.
 */
export type PageWriter = {
  readonly out: string[];
  size: number;
  readonly maxChars: number;
  breaks: number;
  isSpaced: boolean;
  inCell: boolean;
  inHeading: boolean;
  readonly containers: Container[];
  readonly marks: Mark[];
};

/** Deeper elements get no prefix, so prefixes stay short. */
const MAX_CONTAINERS = 24;
const MAX_MARKS = 16;

export function pageWriter(maxChars: number): PageWriter {
  return { out: [], size: 0, maxChars, breaks: 0, isSpaced: false, inCell: false, inHeading: false, containers: [], marks: [] };
}

export function isFull({ size, maxChars }: PageWriter): boolean {
  return size > maxChars;
}

/** Writes running text with collapsed whitespace. */
export function writeText(page: PageWriter, text: string): void {
  const words = text.replaceAll(/[ \t\n\r\f]+/g, " ");
  if (words.startsWith(" ")) page.isSpaced = true;
  const core = words.trim();
  if (core === "") return;
  writeWords(page, page.inCell ? core.replaceAll("|", "\\|") : core);
  if (words.endsWith(" ")) page.isSpaced = true;
}

/** Writes words unchanged, after the held-back whitespace. */
export function writeWords(page: PageWriter, words: string): void {
  begin(page);
  for (const mark of page.marks) {
    if (!mark.isWritten) emit(page, mark.open);
    mark.isWritten = true;
  }
  emit(page, words);
}

/** Writes lines with their whitespace. */
export function writeLines(page: PageWriter, lines: readonly string[]): void {
  for (const line of lines) {
    begin(page);
    emit(page, line);
    page.breaks = 1;
  }
}

/** Starts a new line, or a new paragraph with 2. Ends inline markup. */
export function breakLine(page: PageWriter, breaks: 1 | 2): void {
  const written = page.marks.filter(({ isWritten }) => isWritten);
  for (const mark of written.reverse()) emit(page, mark.close);
  if (written.length > 0) page.marks.splice(0, page.marks.length, ...page.marks.filter(({ isWritten }) => !isWritten));
  softBreak(page, breaks);
}

/** A break that does not end inline markup. */
export function softBreak(page: PageWriter, breaks: 1 | 2): void {
  if (page.inCell || page.inHeading) page.isSpaced = true;
  else page.breaks = Math.max(page.breaks, breaks);
}

/** Starts an element whose lines have a prefix. */
export function enter(page: PageWriter, container: Pick<Container, "name" | "first" | "rest">): void {
  if (page.containers.length < MAX_CONTAINERS) page.containers.push({ ...container, isBegun: false, items: 0 });
}

/** Ends the innermost element of this name and everything inside it. */
export function leave(page: PageWriter, name: string): void {
  const at = page.containers.findLastIndex((container) => container.name === name);
  if (at !== -1) page.containers.length = at;
}

export function openMark(page: PageWriter, mark: Pick<Mark, "name" | "open" | "close">): void {
  if (page.marks.length < MAX_MARKS) page.marks.push({ ...mark, isWritten: false });
}

/** Ends the innermost markup of this name and everything inside it. */
export function closeMark(page: PageWriter, name: string): void {
  const at = page.marks.findLastIndex((mark) => mark.name === name);
  if (at !== -1) endMarks(page, at);
}

/** Writes without the held-back whitespace. */
export function emit(page: PageWriter, text: string): void {
  if (isFull(page)) return;
  page.out.push(text);
  page.size += text.length;
}

/** Writes held-back breaks and spaces, and the line's prefix. */
export function begin(page: PageWriter): void {
  const isFirst = page.out.length === 0;
  if (!isFirst && page.breaks > 1) emit(page, `\n${emptyLine(page.containers)}`);
  if (!isFirst && page.breaks > 0) emit(page, "\n");
  if (isFirst || page.breaks > 0) beginLine(page);
  else if (page.isSpaced && !page.out.at(-1)?.endsWith(" ")) emit(page, " ");
  page.breaks = 0;
  page.isSpaced = false;
}

function beginLine(page: PageWriter): void {
  for (const container of page.containers) {
    emit(page, container.isBegun ? container.rest : container.first);
    container.isBegun = true;
  }
}

/** A blank line keeps the prefixes of open quotes. */
function emptyLine(containers: readonly Container[]): string {
  const going = containers.filter(({ isBegun }) => isBegun);
  return going
    .map(({ rest }) => rest)
    .join("")
    .trimEnd();
}

function endMarks(page: PageWriter, from: number): void {
  for (const mark of page.marks.splice(from).reverse()) if (mark.isWritten) emit(page, mark.close);
}

/** Text that is collected first, because its markup depends on it. */
export type CollectedText = { readonly name: string; readonly parts: string[]; language: string };

export type Page = PageWriter & {
  readonly isMarkdown: boolean;
  base: URL;
  title?: string;
  /** The skipped element, and how deeply it is nested in itself. */
  skipped?: { readonly name: string; depth: number } | undefined;
  literal?: CollectedText | undefined;
  tables: number;
  cells: number;
  row: number;
  /** True for a table that contains tables: it is only layout. */
  isLayout: boolean;
};

export type OpenTag = Extract<HtmlToken, { type: "open" }>;

export const LISTS: ReadonlySet<string> = new Set(["ul", "ol", "menu", "dir"]);

const PLAIN_BLOCKS =
  "address article aside body caption center dd details dialog div dl dt fieldset figcaption figure footer form header hgroup html main nav p section summary tbody tfoot thead";

/** Elements that only start and end a line. */
export const BLOCKS: ReadonlySet<string> = new Set(PLAIN_BLOCKS.split(" "));

const OTHER_BLOCKS: ReadonlySet<string> = new Set(["blockquote", "hr", "li", "pre", "table", "td", "th", "tr"]);

export const HEADING: RegExp = /^h[1-6]$/;

/** True for an element that interrupts running text. */
export function isBlock(name: string): boolean {
  return BLOCKS.has(name) || LISTS.has(name) || OTHER_BLOCKS.has(name) || HEADING.test(name);
}

/** Returns the text in Markdown, nothing in plain text. */
export function markdownSign(page: Page, text: string): string {
  return page.isMarkdown ? text : "";
}

export function endHeading(page: Page): void {
  if (!page.inHeading) return;
  page.inHeading = false;
  closeContainer(page, "heading", 2);
}

export function closeContainer(page: Page, name: string, breaks: 1 | 2): void {
  breakLine(page, breaks);
  leave(page, name);
}
