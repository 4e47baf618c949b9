import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createStreamEmitter, type StreamEvent } from "../../../src/loop/model/stream-events.ts";

const PIECES: readonly [sentence: string, pieces: readonly string[], told: readonly string[]][] = [
  ["what is whole is told as it came", ["a", "\u{1f600}"], ["a", "\u{1f600}"]],
  ["a pair that comes in two pieces is told as one", ["a\ud83d", "\ude00b"], ["a", "\u{1f600}b"]],
  ["a piece that is only the first half is told with the second", ["\ud83d", "\ude00"], ["\u{1f600}"]],
  ["a half without the other is U+FFFD", ["\ud83d", "b", "\ude00"], ["\ufffdb", "\ufffd"]],
  ["a half at the end is told before the end", ["a\ud83d"], ["a", "\ufffd"]],
];

describe("pieces of an answer, each well-formed", () => {
  for (const [sentence, pieces, told] of PIECES) {
    test(sentence, () => {
      const heard: StreamEvent[] = [];
      const teller = createStreamEmitter((event) => void heard.push(event));
      teller.start("t", { type: "text" });
      for (const delta of pieces) teller.delta("t", { type: "text", delta });
      teller.end("stop");
      assert.deepEqual(
        heard.flatMap((event) => (event.type === "delta" ? [event.delta.delta] : [])),
        told,
      );
      assert.deepEqual(heard.at(-2), { type: "block_stop", index: 0 });
    });
  }

  test("ids and names of calls too", () => {
    const heard: StreamEvent[] = [];
    createStreamEmitter((event) => void heard.push(event)).start("c", { type: "call", id: "c\ud800", tool: "re\udc00ad" });
    assert.deepEqual(heard.at(-1), { type: "block_start", index: 0, block: { type: "call", id: "c\ufffd", tool: "re\ufffdad" } });
  });
});
