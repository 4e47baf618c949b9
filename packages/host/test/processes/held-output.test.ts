import assert from "node:assert/strict";
import { StringDecoder } from "node:string_decoder";
import { test } from "node:test";
import { createHeldOutput } from "../../src/processes/held-output.ts";

const SEGMENT = 64 * 1024;

async function hold(bytes: Buffer, options: { limit: number; piece: number; spill?: Parameters<typeof createHeldOutput>[1] }) {
  const held = createHeldOutput(options.limit, options.spill);
  const decoder = new StringDecoder("utf8");
  for (let at = 0; at < bytes.length; at += options.piece) {
    const piece = bytes.subarray(at, at + options.piece);
    await held.take(piece, decoder.write(piece));
  }
  return held.end();
}

function spillTo(parts: Buffer[], failAt = Number.POSITIVE_INFINITY) {
  return async () => ({
    path: "/spilled",
    async write(chunk: string | Uint8Array) {
      if (parts.length >= failAt) throw new Error("no space");
      parts.push(Buffer.from(chunk));
    },
    end: async () => ({ path: "/spilled", size: Buffer.concat(parts).length, sha256: "" }),
  });
}

for (const piece of [1, 2, 3, 5, 1000, SEGMENT, SEGMENT + 1]) {
  test(`text in pieces of ${piece} bytes comes back whole`, async () => {
    const text = "a\né\n漢字\n🙂\n".repeat(piece < 10 ? 300 : 20_000);
    const end = await hold(Buffer.from(text), { limit: 10_000_000, piece });
    assert.equal(end.output, text);
    assert.deepEqual([end.chars, end.lines, end.dropped, end.spilled], [text.length, text.split("\n").length - 1, 0, undefined]);
  });
}

test("an unfinished last line counts as a line", async () => {
  assert.equal((await hold(Buffer.from("a\nb"), { limit: 1000, piece: 2 })).lines, 2);
  assert.equal((await hold(Buffer.from(""), { limit: 1000, piece: 2 })).lines, 0);
});

test("beyond the limit head and tail are kept, cut at whole characters, and the file has every byte", async () => {
  const text = `HEAD${"漢字🙂\n".repeat(100_000)}TAIL`;
  const limit = 4 * SEGMENT;
  for (const piece of [97, 1000, 50_000, 10 * SEGMENT]) {
    const parts: Buffer[] = [];
    const end = await hold(Buffer.from(text), { limit, piece, spill: spillTo(parts) });
    assert.ok(Buffer.concat(parts).equals(Buffer.from(text)), `file, piece ${piece}`);
    assert.equal(end.spilled?.path, "/spilled");
    assert.equal(end.chars, text.length);
    assert.equal(end.lines, 100_001);
    assert.ok(end.output.startsWith("HEAD漢字🙂") && end.output.endsWith("🙂\nTAIL"));
    assert.ok(!end.output.includes("\ufffd"));
    assert.ok(Buffer.byteLength(end.output) <= limit + 100);
    const kept = Buffer.byteLength(end.output.replace(/\n\[\d+ bytes are not shown here\]\n/, ""));
    assert.ok(Math.abs(Buffer.byteLength(text) - kept - end.dropped) <= 6, "dropped counts what is in neither part");
  }
});

test("where all of it is spilled, the file has the first byte as soon as it came", async () => {
  const parts: Buffer[] = [];
  const held = createHeldOutput(4 * SEGMENT, spillTo(parts), true);
  await held.take(Buffer.from("a"), "a");
  assert.equal(Buffer.concat(parts).toString(), "a");
  const text = "x".repeat(8 * SEGMENT);
  await held.take(Buffer.from(text), text);
  const end = await held.end();
  assert.equal(Buffer.concat(parts).toString(), `a${text}`, "each byte once, also beyond what is held");
  assert.deepEqual([end.spilled?.path, end.dropped > 0], ["/spilled", true]);
});

for (const [name, failAt] of [
  ["at once", 0],
  ["on the way", 5],
] as const) {
  test(`a file that fails ${name} leaves head and tail without a file`, async () => {
    const end = await hold(Buffer.alloc(8 * SEGMENT, "x"), { limit: 4 * SEGMENT, piece: 1000, spill: spillTo([], failAt) });
    assert.equal(end.spilled, undefined);
    assert.equal(end.chars, 8 * SEGMENT);
    assert.ok(end.dropped > 0);
  });
}
