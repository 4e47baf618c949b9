import { pipeline, Readable, Transform } from "node:stream";
import { TextDecoder } from "node:util";
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import { Refusal } from "./refusal.ts";

/** What was read of a body; `isCut` if there was more. */
export type Body = { readonly bytes: Buffer; readonly isCut: boolean };

export type BodyOptions = { readonly encoding: string; readonly maxBytes: number };

/** Chooses a decoder by the first byte. */
type Decoder = (first: number) => Transform;

const DECODERS: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ["gzip", () => createGunzip()],
  ["x-gzip", () => createGunzip()],
  ["br", () => createBrotliDecompress()],
  ["deflate", (first) => ((first & 15) === 8 ? createInflate() : createInflateRaw())], // servers send it with and without a header
]);

/** Reads a body up to the limit, which counts decoded bytes. */
export async function readBody(source: Readable, reading: BodyOptions): Promise<Body> {
  const { maxBytes } = reading;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of await decodeBody(source, reading)) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) break; // leaving the loop destroys all streams behind it
  }
  return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), isCut: size > maxBytes };
}

async function decodeBody(source: Readable, { encoding, maxBytes }: BodyOptions): Promise<AsyncIterable<Buffer>> {
  const name = encoding.trim().toLowerCase();
  if (name === "" || name === "identity") return source;
  const decoder = DECODERS.get(name);
  if (!decoder) throw new Refusal("web_fetch_failed", "The response has an unsupported compression.");
  const chunks: AsyncIterator<Buffer> = source[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done) return Readable.from([]);
  const opened = decoder(first.value[0] ?? 0);
  pipeline(fromFirst(first.value, chunks), takeBytes(2 * maxBytes + READ_AHEAD), opened, () => undefined); // destroying it passes the error to the reader
  return opened;
}

async function* fromFirst(first: Buffer, chunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield first;
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
  } finally {
    await chunks.return?.();
  }
}

/** Allowance for bytes that streams buffer before decoding. */
const READ_AHEAD = 1024 * 1024;

/** Limits the encoded bytes too: a decoder could take input forever without output. */
function takeBytes(limit: number): Transform {
  let size = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      if (size > limit) done(new Refusal("web_fetch_failed", "The compressed response is larger than its content may be."));
      else done(null, chunk);
    },
  });
}

export type TextType = { readonly media: string; readonly charset: string | undefined; readonly isHtml: boolean };

const HTML: ReadonlySet<string> = new Set(["text/html", "application/xhtml+xml"]);
const TEXT: ReadonlySet<string> = new Set([
  "application/ecmascript",
  "application/graphql",
  "application/javascript",
  "application/json",
  "application/jsonl",
  "application/json5",
  "application/ndjson",
  "application/sql",
  "application/toml",
  "application/x-javascript",
  "application/x-ndjson",
  "application/x-sh",
  "application/x-yaml",
  "application/xml",
  "application/xml-dtd",
  "application/yaml",
]);

const CONTENT_TYPE = /^\s*([\w.+-]{1,100}\/[\w.+-]{1,100})\s*(?:;|$)/;
const CHARSET = /;\s*charset\s*=\s*(?:"([^"]{1,100})"|([^\s;"]{1,100}))/i;

/** Parses a `Content-Type`. Undefined if the body is not text. Without the header the bytes must look like text. */
export function readTextType(header: string | undefined): TextType | undefined {
  if (header === undefined) return { media: "text/plain", charset: undefined, isHtml: false };
  const media = CONTENT_TYPE.exec(header)?.[1]?.toLowerCase();
  if (media === undefined || !isText(media)) return undefined;
  const [, quoted, bare] = CHARSET.exec(header) ?? [];
  return { media, charset: quoted ?? bare, isHtml: HTML.has(media) };
}

function isText(media: string): boolean {
  return media.startsWith("text/") || media.endsWith("+json") || media.endsWith("+xml") || HTML.has(media) || TEXT.has(media);
}

const MARKS: readonly (readonly [charset: string, bytes: readonly number[]])[] = [
  ["utf-8", [0xef, 0xbb, 0xbf]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]],
];
/** How far to search for a charset in the page itself. */
const META_BYTES = 1024;
const META = /<meta\b[^>]{0,500}?\bcharset\s*=\s*["']?\s*([\w.:-]{1,100})/i;

/** Decodes by byte order mark, header, the page's charset, or as UTF-8. Invalid bytes become `�`, except a cut character. */
export function decodeText({ bytes, isCut }: Body, { charset, isHtml }: TextType): string {
  const marked = MARKS.find(([, mark]) => mark.every((byte, at) => bytes[at] === byte))?.[0];
  const text = decoderOf(marked ?? charset ?? (isHtml ? metaCharset(bytes) : undefined) ?? "utf-8").decode(bytes, { stream: isCut });
  if (text.includes("\0")) throw new Refusal("web_fetch_blocked", "The response claims to be text but is binary.");
  return text;
}

function metaCharset(bytes: Buffer): string | undefined {
  const named = META.exec(bytes.toString("latin1", 0, META_BYTES))?.[1];
  return named && /^utf-?16/i.test(named) ? "utf-8" : named; // the declaration was readable as ASCII, so the page is not UTF-16
}

function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch (error) {
    if (error instanceof RangeError) throw new Refusal("web_fetch_blocked", "The response has an unsupported character set.");
    throw error;
  }
}
