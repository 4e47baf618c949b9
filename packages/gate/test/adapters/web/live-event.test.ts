import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createLiveEventQueue, type LiveEvent } from "../../../src/adapters/web/live-event.ts";
import type { RecordedEvent } from "../../../src/index.ts";

const text = (delta: string, turn = 1): LiveEvent => ({ pos: null, type: "text", turn, delta });
const thought = (delta: string): LiveEvent => ({ pos: null, type: "reasoning", turn: 1, delta });
const output = (callId: string, display: string): LiveEvent => ({ pos: null, type: "output", callId, display });
const warning: LiveEvent = { pos: null, type: "warning", code: "c", message: "m" };
const message = (turn: number): RecordedEvent => ({ pos: 1, type: "message", turn, text: "" });
const ended = (callId: string): RecordedEvent => ({
  ...{ pos: 1, type: "ended", callId, outcome: "succeeded", outcomeType: null, text: "", display: null, durationMs: 0 },
});

describe("what is held for a slow reader", () => {
  const rows: readonly [sentence: string, heard: readonly LiveEvent[], told: readonly RecordedEvent[], left: readonly LiveEvent[]][] = [
    ["text that follows text is joined", [text("a"), text("b")], [], [text("ab")]],
    ["text of another turn is not", [text("a"), text("b", 2)], [], [text("a"), text("b", 2)]],
    ["thought and text keep their order", [thought("a"), text("b"), thought("c")], [], [thought("a"), text("b"), thought("c")]],
    [
      "the newest output of a call takes the older one's place",
      [output("1", "a"), output("2", "b"), output("1", "c")],
      [],
      [output("2", "b"), output("1", "c")],
    ],
    ["a message takes the place of its text", [text("a"), thought("b"), warning, text("c", 2)], [message(1)], [warning, text("c", 2)]],
    ["an end takes the place of its call's outputs", [output("1", "a"), output("2", "b")], [ended("1")], [output("2", "b")]],
  ];
  for (const [sentence, heard, told, left] of rows) {
    test(sentence, () => {
      const hearing = createLiveEventQueue();
      for (const event of heard) hearing.add(event);
      for (const event of told) hearing.dropReplaced(event);
      const taken: LiveEvent[] = [];
      for (let event = hearing.take(); event; event = hearing.take()) taken.push(event);
      assert.deepEqual(taken, left);
    });
  }

  test("a notification before anything waited counts once", async () => {
    const hearing = createLiveEventQueue();
    hearing.add(warning);
    await hearing.changed();
    let again = false;
    const next = hearing.changed().then(() => {
      again = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(again, false);
    hearing.notify();
    await next;
  });
});
