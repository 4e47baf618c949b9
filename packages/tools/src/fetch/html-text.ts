import { collect, endLiteral, openLiteral, openPre } from "./html-literal.ts";
import { closeTable, endCell, endRow, openCell, openRow, openTable } from "./html-table.ts";
import { type HtmlToken, readHtmlTokens } from "./html-tokens.ts";
import {
  BLOCKS,
  breakLine,
  closeContainer,
  closeMark,
  endHeading,
  enter,
  HEADING,
  isFull,
  LISTS,
  leave,
  markdownSign,
  type OpenTag,
  openMark,
  type Page,
  pageWriter,
  softBreak,
  writeText,
  writeWords,
} from "./page-writer.ts";

export type HtmlTextOptions = {
  readonly format: "markdown" | "text";
  /** Base for relative links. */
  readonly url: URL;
  readonly maxChars: number;
};

/** Converts a page to text in reading order; `isCut`: it was too long. Executes and loads nothing, and accepts any input. */
export function htmlText(html: string, { format, url, maxChars }: HtmlTextOptions): { readonly text: string; readonly isCut: boolean } {
  const page: Page = {
    ...pageWriter(maxChars),
    isMarkdown: format === "markdown",
    base: url,
    tables: 0,
    cells: 0,
    row: 0,
    isLayout: false,
  };
  readHtmlTokens(html, (token) => {
    if (page.skipped) passOver(page, token);
    else take(page, token);
    return !isFull(page);
  });
  endLiteral(page);
  breakLine(page, 1);
  return { text: page.out.join(""), isCut: isFull(page) };
}

const LEFT_OUT: ReadonlySet<string> = new Set(["svg", "template", "object", "canvas", "audio", "video", "select", "datalist", "math"]);
const CODE: ReadonlySet<string> = new Set(["code", "kbd", "samp", "tt"]);
const SIGNS: ReadonlyMap<string, string> = new Map([
  ["b", "**"],
  ["strong", "**"],
  ["i", "*"],
  ["em", "*"],
]);

function take(page: Page, token: HtmlToken): void {
  if (page.literal && collect(page, page.literal, token)) return;
  if (token.type === "text") writeText(page, token.text);
  else if (token.type === "open") open(page, token);
  else close(page, token.name);
}

function passOver(page: Page, token: HtmlToken): void {
  if (!page.skipped || token.type === "text" || token.name !== page.skipped.name) return;
  page.skipped.depth += token.type === "open" ? 1 : -1;
  if (page.skipped.depth === 0) page.skipped = undefined;
}

function open(page: Page, token: OpenTag): void {
  const { name } = token;
  const own = OPENING.get(name);
  if (own) own(page, token);
  else if (LEFT_OUT.has(name)) page.skipped = { name, depth: 1 };
  else if (CODE.has(name)) openLiteral(page, name);
  else if (SIGNS.has(name)) mark(page, name);
  else if (LISTS.has(name)) openList(page, name);
  else if (HEADING.test(name)) openHeading(page, name);
  else if (BLOCKS.has(name)) {
    if (name !== "div") endHeading(page);
    breakLine(page, name === "p" && page.containers.at(-1)?.isBegun !== false ? 2 : 1);
  }
}

function close(page: Page, name: string): void {
  const own = CLOSING.get(name);
  if (own) own(page);
  else if (SIGNS.has(name) || name === "a") closeMark(page, name);
  else if (LISTS.has(name)) closeList(page, name);
  else if (HEADING.test(name)) endHeading(page);
  else if (BLOCKS.has(name)) breakLine(page, name === "p" ? 2 : 1);
}

const OPENING: ReadonlyMap<string, (page: Page, token: OpenTag) => void> = new Map([
  ["a", openLink],
  ["base", setBase],
  [
    "blockquote",
    (page: Page) => openContainer(page, { name: "blockquote", first: markdownSign(page, "> "), rest: markdownSign(page, "> ") }),
  ],
  ["br", (page: Page) => softBreak(page, 1)],
  ["hr", rule],
  ["img", image],
  ["li", openItem],
  ["pre", openPre],
  ["table", openTable],
  ["td", openCell],
  ["th", openCell],
  ["title", (page: Page) => openLiteral(page, "title")],
  ["tr", openRow],
]);

const CLOSING: ReadonlyMap<string, (page: Page) => void> = new Map([
  ["blockquote", (page: Page) => closeContainer(page, "blockquote", 2)],
  ["li", closeItem],
  ["table", closeTable],
  ["td", endCell],
  ["th", endCell],
  ["tr", endRow],
]);

function mark(page: Page, name: string): void {
  const text = markdownSign(page, SIGNS.get(name) ?? "");
  openMark(page, { name, open: text, close: text });
}

function openContainer(page: Page, container: { readonly name: string; readonly first: string; readonly rest: string }): void {
  endHeading(page);
  breakLine(page, 2);
  enter(page, container);
}

function openList(page: Page, name: string): void {
  endHeading(page);
  breakLine(page, breaksAround(page));
  enter(page, { name, first: "", rest: "" });
}

function closeList(page: Page, name: string): void {
  leave(page, name);
  breakLine(page, breaksAround(page));
}

/** A nested list follows its item without a blank line. */
function breaksAround({ containers }: Page): 1 | 2 {
  return containers.some(({ name }) => name === "li") ? 1 : 2;
}

/** A new item ends the previous one, even without an end tag. */
function openItem(page: Page): void {
  breakLine(page, 1);
  const at = page.containers.findLastIndex(({ name }) => LISTS.has(name));
  page.containers.length = at + 1;
  const list = page.containers[at];
  if (list) list.items += 1;
  const first = list?.name === "ol" ? `${list.items}. ` : "- ";
  enter(page, { name: "li", first, rest: " ".repeat(first.length) });
}

function closeItem(page: Page): void {
  const list = page.containers.findLastIndex(({ name }) => LISTS.has(name));
  if (page.containers.findLastIndex(({ name }) => name === "li") > list) closeContainer(page, "li", 1);
}

function openHeading(page: Page, name: string): void {
  endHeading(page);
  breakLine(page, 2);
  enter(page, { name: "heading", first: markdownSign(page, `${"#".repeat(Number(name[1]))} `), rest: "" });
  page.inHeading = true;
}

function openLink(page: Page, { attributes }: OpenTag): void {
  closeMark(page, "a");
  const href = linkOf(page, attributes.get("href"));
  if (href !== undefined) openMark(page, { name: "a", open: markdownSign(page, "["), close: markdownSign(page, `](${href})`) });
}

function image(page: Page, { attributes }: OpenTag): void {
  const alt = (attributes.get("alt") ?? "").replaceAll(/\s+/g, " ").trim();
  const src = linkOf(page, attributes.get("src"));
  if (alt !== "") writeWords(page, page.isMarkdown && src !== undefined ? `![${alt}](${src})` : alt);
}

const LINKED: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);

/** The absolute URL of a link; undefined for anchors and unsupported schemes. */
function linkOf({ base, isMarkdown }: Page, written: string | undefined): string | undefined {
  if (!isMarkdown || written === undefined || written.trim().startsWith("#")) return undefined;
  const url = URL.parse(written, base.href);
  return url && LINKED.has(url.protocol) ? url.href.replaceAll("(", "%28").replaceAll(")", "%29") : undefined;
}

function setBase(page: Page, { attributes }: OpenTag): void {
  const url = URL.parse(attributes.get("href") ?? "", page.base.href);
  if (url && LINKED.has(url.protocol)) page.base = url;
}

function rule(page: Page): void {
  endHeading(page);
  breakLine(page, 2);
  writeWords(page, "---");
  breakLine(page, 2);
}
