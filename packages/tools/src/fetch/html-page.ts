import type { HtmlToken } from "./html-tokens.ts";
import { breakLine, leave, type PageWriter } from "./page-writer.ts";

/** Text that is collected before it is written, because what is put around it depends on it. */
export type CollectedText = { readonly name: string; readonly parts: string[]; language: string };

/** A page that is being turned into text. */
export type Page = PageWriter & {
  readonly isMarkdown: boolean;
  base: URL;
  title?: string;
  /** The element that is left out, and how often it is open in itself. */
  skipped?: { readonly name: string; depth: number } | undefined;
  literal?: CollectedText | undefined;
  tables: number;
  cells: number;
  row: number;
  /** A table that holds tables only puts things in places. */
  isLayout: boolean;
};

/** The beginning of an element. */
export type OpenTag = Extract<HtmlToken, { type: "open" }>;

/** Lists of items. */
export const LISTS: ReadonlySet<string> = new Set(["ul", "ol", "menu", "dir"]);

const PLAIN_BLOCKS =
  "address article aside body caption center dd details dialog div dl dt fieldset figcaption figure footer form header hgroup html main nav p section summary tbody tfoot thead";

/** Elements that begin and end a line, and mean nothing else. */
export const BLOCKS: ReadonlySet<string> = new Set(PLAIN_BLOCKS.split(" "));

const OTHER_BLOCKS: ReadonlySet<string> = new Set(["blockquote", "hr", "li", "pre", "table", "td", "th", "tr"]);

/** A heading's level is its digit. */
export const HEADING: RegExp = /^h[1-6]$/;

/** Whether an element is one that running text does not go across. */
export function isBlock(name: string): boolean {
  return BLOCKS.has(name) || LISTS.has(name) || OTHER_BLOCKS.has(name) || HEADING.test(name);
}

/** A sign that only markdown has. */
export function markdownSign(page: Page, text: string): string {
  return page.isMarkdown ? text : "";
}

/** Ends a heading, if one is open. */
export function endHeading(page: Page): void {
  if (!page.inHeading) return;
  page.inHeading = false;
  closeContainer(page, "heading", 2);
}

/** Ends an element whose lines begin in a way of their own. */
export function closeContainer(page: Page, name: string, breaks: 1 | 2): void {
  breakLine(page, breaks);
  leave(page, name);
}
