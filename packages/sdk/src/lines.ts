import { SdkError } from "./sdk-error.ts";

const NEWLINE = 0x0a;
const LONGEST = 64 * 1024 * 1024;

/** Splits bytes into lines. The last line needs no newline. A line over 64 MiB is refused. */
export async function* lines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string, void, undefined> {
  let parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      parts.push(chunk.subarray(from, at));
      yield Buffer.concat(parts).toString("utf8");
      parts = [];
      size = 0;
      from = at + 1;
    }
    parts.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > LONGEST) throw new SdkError("protocol", `A line of more than ${LONGEST / 1024 / 1024} MiB.`);
  }
  const last = Buffer.concat(parts).toString("utf8");
  if (last !== "") yield last;
}
