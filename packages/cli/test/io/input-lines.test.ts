import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type InputLine, inputLines } from "../../src/io/input-lines.ts";

async function linesOf(chunks: readonly (string | Uint8Array)[], longest = 1_000): Promise<InputLine[]> {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  const found: InputLine[] = [];
  for await (const line of inputLines(pieces(), longest)) found.push(line);
  return found;
}

describe("the lines of a stream", () => {
  const rows: readonly (readonly [string, readonly (string | Uint8Array)[], readonly string[]])[] = [
    ["nothing has no lines", [], []],
    ["an empty piece is not a line", [""], []],
    ["the last line needs no end", ["a\nb"], ["a", "b"]],
    ["an end after the last line makes no further line", ["a\nb\n"], ["a", "b"]],
    ["an empty line is a line", ["a\n\nb\n"], ["a", "", "b"]],
    ["a line may come in pieces", ["a", "b\nc", "\n"], ["ab", "c"]],
    ["a character may be divided between pieces", [Buffer.from("ä").subarray(0, 1), Buffer.from("ä\n").subarray(1)], ["ä"]],
    ["a byte order mark is skipped", ["\uFEFFa\n"], ["a"]],
    ["a carriage return belongs to the line", ["a\r\n"], ["a\r"]],
  ];
  for (const [name, chunks, expected] of rows)
    test(name, async () => {
      assert.deepEqual(
        await linesOf(chunks),
        expected.map((text) => ({ text })),
      );
    });

  test("a line that is too long is a fault, and the next one is read", async () => {
    const found = await linesOf(["x".repeat(8), "x".repeat(8), "x\nok\n"], 10);
    assert.deepEqual(found, [{ fault: "the line is longer than 10 bytes" }, { text: "ok" }]);
    assert.deepEqual(await linesOf(["x".repeat(10), "\n"], 10), [{ text: "x".repeat(10) }]);
  });

  test("bytes that are no UTF-8 are a fault of their line alone", async () => {
    assert.deepEqual(await linesOf([Buffer.from([0x61, 0xff, 0x0a]), "b\n"]), [{ fault: "the line is not UTF-8 text" }, { text: "b" }]);
  });

  test("however a text is divided into three pieces, its lines are the same", async () => {
    for (const text of ["a\nbä\n\n𝄞c", "\n\nab𝄞\n"]) {
      const bytes = Buffer.from(text);
      const whole = text.split("\n");
      const expected = (whole.at(-1) === "" ? whole.slice(0, -1) : whole).map((line) => ({ text: line }));
      for (let first = 0; first <= bytes.length; first++) {
        for (let second = first; second <= bytes.length; second++) {
          const pieces = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
          assert.deepEqual(await linesOf(pieces), expected, `${first} ${second}`);
        }
      }
    }
  });
});
