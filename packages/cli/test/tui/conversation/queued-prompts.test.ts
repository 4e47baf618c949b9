import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { queuePrompts } from "../../../src/tui/conversation/queued-prompts.ts";

function bench() {
  const shown = {
    status: undefined as never,
    queued: [] as readonly string[],
    busySince: undefined,
    commands: 0,
    tasks: () => [],
    isMarkdown: () => false,
  };
  return { shown, unsaid: queuePrompts({ state: shown }) };
}

describe("what is to be said next", () => {
  test("it is shown in its order, until it is said", () => {
    const { shown, unsaid } = bench();
    const [one, two] = [unsaid.add("one"), unsaid.add("two")];
    assert.deepEqual(shown.queued, ["one", "two"]);
    assert.equal(one.begin(), true);
    one.said();
    assert.deepEqual(shown.queued, ["two"]);
    assert.equal(two.begin(), true);
    two.said();
    assert.deepEqual(shown.queued, []);
  });

  test("what is taken back is never said; what has begun is not taken back", () => {
    const { shown, unsaid } = bench();
    const [one, two, three] = [unsaid.add("one"), unsaid.add("two"), unsaid.add("three")];
    assert.equal(one.begin(), true);
    assert.deepEqual(unsaid.withdraw(), ["two", "three"]);
    assert.deepEqual(shown.queued, ["one"]);
    one.said();
    assert.deepEqual([two.begin(), three.begin(), shown.queued], [false, false, []]);
    const four = unsaid.add("four");
    assert.deepEqual([shown.queued, four.begin()], [["four"], true]);
  });
});
