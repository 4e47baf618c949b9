export type InputLine = { readonly text: string } | { readonly fault: string };

const NEWLINE = 0x0a;

/** Yields lines as they arrive; holds at most `longest` bytes. */
export async function* inputLines(chunks: AsyncIterable<Uint8Array>, longest: number): AsyncGenerator<InputLine> {
  let held: Uint8Array[] = [];
  let size = 0;
  const hold = (part: Uint8Array): void => {
    size += part.length;
    if (size <= longest) held.push(part);
    else held = [];
  };
  const take = (): InputLine => {
    const line = size > longest ? { fault: `the line is longer than ${longest} bytes` } : decode(held);
    held = [];
    size = 0;
    return line;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      hold(chunk.subarray(start, end));
      yield take();
      start = end + 1;
    }
    if (start < chunk.length) hold(chunk.slice(start));
  }
  if (size > 0) yield take();
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

function decode(parts: readonly Uint8Array[]): InputLine {
  const [only, ...more] = parts;
  try {
    return { text: UTF8.decode(more.length === 0 ? only : Buffer.concat(parts)) };
  } catch {
    return { fault: "the line is not UTF-8 text" };
  }
}
