import type { HtmlToken } from "./html-tokens.ts";
import { breakLine, leave, type PageWriter } from "./page-writer.ts";

/** Text that is collected first, because its markup depends on it. */
export type CollectedText = { readonly name: string; readonly parts: string[]; language: string };

/** The state of a page that is being converted. */
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

/** Ends an element whose lines have a prefix. */
export function closeContainer(page: Page, name: string, breaks: 1 | 2): void {
  breakLine(page, breaks);
  leave(page, name);
}
