import type { Readable } from "node:stream";

/** What came out of one stream. */
export type Captured = {
  /** Resolves when nothing more can come. */
  readonly done: Promise<void>;
  readonly text: () => string;
};

/** Takes at most `limit` bytes from a stream; one more and `over` is called, once. */
export function capture(stream: Readable, limit: number, over: () => void): Captured {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on("data", (chunk: Buffer) => {
    const before = bytes;
    bytes += chunk.length;
    if (bytes <= limit) chunks.push(chunk);
    else if (before <= limit) over();
  });
  const done = new Promise<void>((resolve) => {
    for (const event of ["end", "close", "error"]) stream.on(event, () => resolve());
  });
  return { done, text: () => Buffer.concat(chunks).toString("utf8") };
}
