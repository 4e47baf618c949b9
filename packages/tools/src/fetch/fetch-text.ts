import { type IncomingHttpHeaders, type IncomingMessage, request as requestPlain, STATUS_CODES } from "node:http";
import { request as requestSecure } from "node:https";
import type { LookupFunction } from "node:net";
import { errorCode } from "@assent/core";
import { htmlText } from "./html-text.ts";
import { hasCredentials } from "./public-address.ts";
import { decodeText, readBody, readTextType, type TextType } from "./read-body.ts";
import { Refusal } from "./refusal.ts";
import type { HostAddress } from "./resolve-host.ts";
import { type HostOptions, resolveHost } from "./resolve-host.ts";

export type FetchOptions = HostOptions & { readonly format: "markdown" | "text" | "html"; readonly maxBytes: number };

export type FetchOutcome =
  | { readonly redirect: URL }
  | { readonly text: string; readonly status: number; readonly media: string; readonly bytes: number; readonly isCut: boolean };

/** Sends one GET without following redirects. Throws `Refusal` if there is no text, and the signal's reason after an abort. */
export async function fetchText(url: URL, wish: FetchOptions): Promise<FetchOutcome> {
  const { signal } = wish;
  try {
    if (hasCredentials(url))
      throw new Refusal("web_fetch_blocked", `URLs with a user name or password are not fetched, because no credentials are sent.`);
    const answer = await httpGet(url, await resolveHost(url, wish), signal);
    try {
      return await readAnswer(url, answer, wish);
    } finally {
      answer.body.destroy();
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof Refusal ? error : new Refusal("web_fetch_failed", `${url.href} could not be fetched: ${describeError(error)}.`);
  }
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

async function readAnswer(url: URL, { status, headers, body }: HttpAnswer, wish: FetchOptions): Promise<FetchOutcome> {
  const { location } = headers;
  if (REDIRECTS.has(status) && location !== undefined) return { redirect: readRedirect(url, location) };
  if (status >= 400) throw new Refusal("web_fetch_failed", `${url.href} answered with status ${status}${statusText(status)}.`);
  const type = readTextType(headers["content-type"]);
  if (!type) throw new Refusal("web_fetch_blocked", `${url.href} is not text: its type is ${quoteType(headers["content-type"] ?? "")}.`);
  const read = await readBody(body, { encoding: headers["content-encoding"] ?? "", maxBytes: wish.maxBytes });
  const shown = convertText(decodeText(read, type), type, { url, wish });
  return { text: shown.text, status, media: type.media, bytes: read.bytes.length, isCut: read.isCut || shown.isCut };
}

function readRedirect(url: URL, location: string): URL {
  const target = URL.parse(Buffer.from(location, "latin1").toString("utf8"), url.href); // Node decodes headers as latin1, but servers send UTF-8
  if (!target || target.href.length > 8192) throw new Refusal("web_fetch_failed", `${url.href} redirects to an invalid URL.`);
  if (target.protocol === "http:" || target.protocol === "https:") return target;
  throw new Refusal("web_fetch_blocked", `${url.href} redirects to ${target.href.slice(0, 200)}, which is neither http nor https.`);
}

function statusText(status: number): string {
  const known = STATUS_CODES[status];
  return known === undefined ? "" : ` (${known})`;
}

/** Quotes a header only if it looks like a media type. */
function quoteType(header: string): string {
  return /^[\w.+-]{1,60}\/[\w.+-]{1,60}/.exec(header)?.[0] ?? "unknown";
}

/** Markup and absolute links can make the text longer than the page, so the limit is higher. */
function convertText(
  text: string,
  { isHtml }: TextType,
  { url, wish: { format, maxBytes } }: { readonly url: URL; readonly wish: FetchOptions },
): { readonly text: string; readonly isCut: boolean } {
  return isHtml && format !== "html" ? htmlText(text, { format, url, maxChars: 2 * maxBytes + 10_000 }) : { text, isCut: false };
}

const REASONS: Readonly<Record<string, string>> = {
  EAI_AGAIN: "its host could not be resolved",
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was closed before the response was complete",
  EHOSTUNREACH: "its host cannot be reached",
  ENETUNREACH: "its network cannot be reached",
  ENOTFOUND: "its host is unknown",
  ETIMEDOUT: "its host does not answer",
  HPE_HEADER_OVERFLOW: "the response headers are too long",
};

function describeError(error: unknown): string {
  const code = errorCode(error);
  const known = code === undefined ? undefined : REASONS[code];
  return known ?? (error instanceof Error ? error.message.replaceAll(/\s+/g, " ").slice(0, 300) : String(error)).replace(/\.$/, "");
}

const MAX_HEADER_BYTES = 32 * 1024;

/** Everything that is sent. No cookies, nothing that identifies the user. */
const HEADERS = {
  accept: "text/markdown, text/html;q=0.9, text/plain;q=0.9, application/json;q=0.9, */*;q=0.5",
  "accept-encoding": "gzip, br, deflate",
  "user-agent": "assent",
};

type HttpAnswer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: IncomingMessage };

/** Sends one GET to one of the given addresses, over its own connection. */
function httpGet(url: URL, addresses: readonly HostAddress[], signal: AbortSignal): Promise<HttpAnswer> {
  const request = url.protocol === "https:" ? requestSecure : requestPlain;
  const options = {
    method: "GET",
    agent: false as const,
    lookup: fixedLookup(addresses),
    headers: HEADERS,
    maxHeaderSize: MAX_HEADER_BYTES,
    rejectUnauthorized: true,
    signal,
  };
  return new Promise((resolve, reject) => {
    const sent = request(url, options);
    sent.on("error", reject);
    sent.on("close", () => reject(new Error("the connection was closed without a response"))); // Node reports no error if the server switches protocols
    sent.on("response", (body) => {
      body.on("error", () => undefined); // the reader gets the error too, but may not be reading yet
      resolve({ status: body.statusCode ?? 0, headers: body.headers, body });
    });
    sent.end();
  });
}

/** Always answers with the addresses that were checked. */
function fixedLookup(addresses: readonly HostAddress[]): LookupFunction {
  return (_host, { all }, done) => {
    const [first] = addresses;
    if (all) done(null, [...addresses]);
    else done(null, first?.address ?? "", first?.family);
  };
}
