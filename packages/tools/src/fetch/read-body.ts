import { pipeline, Readable, Transform } from "node:stream";
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
