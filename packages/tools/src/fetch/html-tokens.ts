import { decodeEntities } from "./html-entities.ts";

/** A piece of a page. Names are lower case; comments, declarations, scripts and styles are no pieces. */
export type HtmlToken =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "open"; readonly name: string; readonly attribute: (name: string) => string | undefined }
  | { readonly type: "close"; readonly name: string };

/** Elements whose inside is no markup, and where they end. What is in them is dropped, but for texts. */
const RAW: ReadonlyMap<string, { readonly end: RegExp; readonly isText: boolean }> = new Map([
  ["script", { end: /<\/script[\s/>]/gi, isText: false }],
  ["style", { end: /<\/style[\s/>]/gi, isText: false }],
  ["iframe", { end: /<\/iframe[\s/>]/gi, isText: false }],
  ["noembed", { end: /<\/noembed[\s/>]/gi, isText: false }],
  ["noframes", { end: /<\/noframes[\s/>]/gi, isText: false }],
  ["xmp", { end: /<\/xmp[\s/>]/gi, isText: true }],
  ["textarea", { end: /<\/textarea[\s/>]/gi, isText: true }],
  ["title", { end: /<\/title[\s/>]/gi, isText: true }],
]);

/**
 * Takes a page apart in one pass from left to right, whatever is in it: each character is looked at a bounded number of times, and nothing is kept.
 * Broken markup is read as browsers read it, or as text.
 */
export function* htmlTokens(html: string): Generator<HtmlToken> {
  let at = 0;
  while (at < html.length) {
    const next = indexFrom(MARKUP, html, at);
    if (next > at) yield textOf(html.slice(at, next));
    const { token, end } = next < html.length ? readMarkup(html, next) : { token: undefined, end: next };
    at = end;
    if (token) {
      yield token;
      const raw = rawAfter(html, token, end);
      if (raw) yield textOf(raw.text);
      at = raw?.end ?? end;
    }
  }
}

/** A `<` before anything else is a character like others. */
const MARKUP = /<[a-zA-Z/!?]/g;

function textOf(written: string): HtmlToken {
  return { type: "text", text: decodeEntities(written) };
}

/** What follows the beginning of an element in which there is no markup. */
function rawAfter(html: string, token: HtmlToken, from: number): { readonly text: string; readonly end: number } | undefined {
  const raw = token.type === "open" ? RAW.get(token.name) : undefined;
  if (!raw) return undefined;
  const end = indexFrom(raw.end, html, from);
  return { text: raw.isText ? html.slice(from, end) : "", end };
}

/** What stands at a `<`, and where it ends. */
type Markup = { readonly token?: HtmlToken; readonly end: number };

const LETTER = /[a-zA-Z]/;

function readMarkup(html: string, start: number): Markup {
  const next = html[start + 1] ?? "";
  if (LETTER.test(next)) return readTag(html, start + 1, "open");
  if (next === "/" && LETTER.test(html[start + 2] ?? "")) return readTag(html, start + 2, "close");
  if (html.startsWith("<!--", start)) return { end: after(html, "-->", start + 2) };
  if (html.startsWith("<![CDATA[", start)) return readLiteral(html, start + "<![CDATA[".length);
  return { end: after(html, ">", start) };
}

function readLiteral(html: string, start: number): Markup {
  const end = indexOf(html, "]]>", start);
  return { token: { type: "text", text: html.slice(start, end) }, end: Math.min(end + 3, html.length) };
}

const NAME_END = /[\s/>]/g;

function readTag(html: string, start: number, type: "open" | "close"): Markup {
  const nameEnd = indexFrom(NAME_END, html, start);
  const end = tagEnd(html, nameEnd);
  if (end > html.length) return { end: html.length }; // a tag that never ends is none
  const name = html.slice(start, nameEnd).toLowerCase();
  if (type === "close") return { token: { type, name }, end };
  return { token: { type, name, attribute: (wanted) => attributeOf(html.slice(nameEnd, end - 1), wanted) }, end };
}

const QUOTE_OR_END = /["'>]/g;

/** Behind the `>` that is not in quotes; beyond the text when there is none. */
function tagEnd(html: string, from: number): number {
  let at = indexFrom(QUOTE_OR_END, html, from);
  while (at < html.length && html[at] !== ">") {
    const quoted = /=\s*$/.test(html.slice(Math.max(from, at - 20), at)); // a quote elsewhere is a character like others
    const close = quoted ? html.indexOf(html[at] ?? "", at + 1) : at;
    if (close === -1) return html.length + 1;
    at = indexFrom(QUOTE_OR_END, html, close + 1);
  }
  return at + 1;
}

const ATTRIBUTE = /([^\s=/>"']+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g;

/** The first of several with one name counts. */
function attributeOf(tag: string, wanted: string): string | undefined {
  for (const [, name = "", double, single, bare] of tag.matchAll(ATTRIBUTE)) {
    if (name.toLowerCase() === wanted) return decodeEntities(double ?? single ?? bare ?? "");
  }
  return undefined;
}

function after(html: string, what: string, from: number): number {
  return Math.min(indexOf(html, what, from) + what.length, html.length);
}

function indexOf(html: string, what: string, from: number): number {
  const found = html.indexOf(what, from);
  return found === -1 ? html.length : found;
}

function indexFrom(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? text.length;
}
