import type { HtmlToken } from "./html-tokens.ts";
import {
  BLOCKS,
  breakLine,
  type CollectedText,
  endHeading,
  isBlock,
  type OpenTag,
  type Page,
  writeLines,
  writeText,
  writeWords,
} from "./page-writer.ts";

const LANGUAGE = /(?:^|\s)(?:lang|language|highlight-source)-([\w+#.-]{1,30})/;

/** Starts collecting text that is written later. */
export function openLiteral(page: Page, name: string): void {
  page.literal = { name, parts: [], language: "" };
}

export function openPre(page: Page, { attributes }: OpenTag): void {
  endHeading(page);
  breakLine(page, 2);
  page.literal = { name: "pre", parts: [], language: LANGUAGE.exec(attributes.get("class") ?? "")?.[1] ?? "" };
}

/** Adds a token to the collected text. Returns false if the token ends it, as a block does when the end tag of inline code is missing. */
export function collect(page: Page, literal: CollectedText, token: HtmlToken): boolean {
  if (token.type === "text") return literal.parts.push(token.text) > 0;
  if (token.type === "close" && token.name === literal.name) {
    endLiteral(page);
    return true;
  }
  if (literal.name === "pre") return collectPre(literal, token);
  if (!isBlock(token.name)) return true;
  endLiteral(page);
  return false;
}

function collectPre(literal: CollectedText, token: Exclude<HtmlToken, { type: "text" }>): boolean {
  if (token.name === "br") literal.parts.push("\n");
  else if (token.type === "close" && BLOCKS.has(token.name) && !literal.parts.at(-1)?.endsWith("\n")) literal.parts.push("\n");
  else if (token.type === "open" && token.name === "code" && literal.language === "")
    literal.language = LANGUAGE.exec(token.attributes.get("class") ?? "")?.[1] ?? "";
  return true;
}

export function endLiteral(page: Page): void {
  if (!page.literal) return;
  const { name, parts, language } = page.literal;
  page.literal = undefined;
  const text = parts.join("");
  if (name === "title") writeTitle(page, text);
  else if (name === "pre" && !page.inCell) writePre(page, text, language);
  else writeCode(page, text);
}

/** Only the first title is the page's; others belong to images. */
function writeTitle(page: Page, text: string): void {
  if (page.title !== undefined || text.trim() === "") return;
  page.title = text;
  breakLine(page, 2);
  writeText(page, `Title: ${text}`);
  breakLine(page, 2);
}

function writeCode(page: Page, text: string): void {
  if (/^\s/.test(text)) page.isSpaced = true;
  const code = text.replaceAll(/\s+/g, " ").trim();
  const fence = "`".repeat(longestFence(code) + 1);
  const pad = code.startsWith("`") || code.endsWith("`") ? " " : "";
  if (code !== "")
    writeWords(page, page.isMarkdown ? fence + pad + (page.inCell ? code.replaceAll("|", "\\|") : code) + pad + fence : code);
  if (/\s$/.test(text)) page.isSpaced = true;
}

function writePre(page: Page, text: string, language: string): void {
  if (text.trim() === "") return;
  const lines = text.replaceAll(/\r\n?/g, "\n").replace(/^\n/, "").trimEnd().split("\n");
  const fence = "`".repeat(Math.max(3, longestFence(text) + 1));
  writeLines(page, page.isMarkdown ? [fence + language, ...lines, fence] : lines);
  breakLine(page, 2);
}

function longestFence(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}
