import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { lines } from "../src/lines.ts";

async function* chunks(...texts: readonly (string | Buffer)[]): AsyncGenerator<Buffer, void, undefined> {
  for (const text of texts) yield Buffer.from(text);
}

async function all(from: AsyncIterable<string>): Promise<readonly string[]> {
  const read: string[] = [];
  for await (const line of from) read.push(line);
  return read;
}

describe("lines", () => {
  const euro = Buffer.from("€\n");
  const rows: readonly (readonly [sentence: string, given: readonly (string | Buffer)[], expected: readonly string[]])[] = [
    ["nothing", [], []],
    ["one line in one piece", ["a\n"], ["a"]],
    ["two lines in one piece", ["a\nb\n"], ["a", "b"]],
    ["one line in three pieces", ["a", "b", "c\n"], ["abc"]],
    ["an end and a beginning in one piece", ["a", "b\nc", "d\n"], ["ab", "cd"]],
    ["empty lines", ["\n\na\n"], ["", "", "a"]],
    ["a last line without its newline", ["a\nb"], ["a", "b"]],
    ["a character cut in two", [euro.subarray(0, 1), euro.subarray(1)], ["€"]],
    ["separators that are no newline", ["a\u2028b\r\n"], ["a\u2028b\r"]],
  ];
  for (const [sentence, given, expected] of rows) {
    test(sentence, async () => assert.deepEqual(await all(lines(chunks(...given))), expected));
  }

  test("one that never ends is refused", async () => {
    async function* endless(): AsyncGenerator<Buffer, void, undefined> {
      const piece = Buffer.alloc(1024 * 1024, "x");
      for (;;) yield piece;
    }
    await assert.rejects(all(lines(endless())), { type: "protocol" });
  });
});
