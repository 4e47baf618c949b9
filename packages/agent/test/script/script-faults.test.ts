import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readScript, ScriptError } from "../../src/index.ts";

const BROKEN: readonly [sentence: string, text: string, message: RegExp][] = [
  ["no turns", "allowUnused: true", /^s.yaml:1: script needs 'turns'$/],
  ["a key nobody knows", "turns:\n  - say: hi\n    sya: ho\n", /^s.yaml:3: script.turns\[0\] has no key 'sya'; known are say, calls/],
  ["a key nobody knows, deep inside", "turns:\n  - expect:\n      result:\n        cal: c1\n", /^s.yaml:4: .*no key 'cal'/],
  ["a value of another type", "turns:\n  - say: 3\n", /^s.yaml:2: script.turns\[0\].say must be string$/],
  ["turns that are no list", "turns: hi\n", /^s.yaml:1: script.turns must be a list$/],
  [
    "a failure that also speaks",
    "turns:\n  - say: hi\n    error: { status: 500, message: m }\n",
    /turns\[0\] fails, so it cannot say or call anything$/,
  ],
  ["a call without a tool", "turns:\n  - calls: [{ input: {} }]\n", /turns\[0\] has a call without a tool$/],
  [
    "an agent's broken turn",
    "turns: []\nagents:\n  x:\n    turns:\n      - nonsense: 1\n",
    /^s.yaml:5: script.agents.x.turns\[0\] has no key 'nonsense'/,
  ],
  ["a capability nobody has", "turns: []\ncapability: forced\n", /capability must be named, required or auto$/],
  ["text that is no YAML", "turns: [", /^s.yaml:1: /],
  ["the same key twice", "turns: []\nturns: []\n", /^s.yaml:2: /],
];

describe("reading a script", () => {
  for (const [sentence, text, message] of BROKEN) {
    test(`${sentence} is refused with its line`, () => {
      assert.throws(
        () => readScript(text, "s.yaml"),
        (error) => (error instanceof ScriptError && message.test(error.message)) || assert.fail(String(error)),
      );
    });
  }

  test("JSON is read the same way", () => {
    assert.deepEqual(readScript('{ "turns": [{ "say": "hi" }] }', "s.json"), { turns: [{ say: "hi" }] });
  });

  test("a call's input may be anything", () => {
    const { turns } = readScript("turns:\n  - calls: [{ tool: t, id: c1, input: { a: [1, { b: null }] } }]\n", "s.yaml");
    assert.deepEqual(turns[0]?.calls, [{ tool: "t", id: "c1", input: { a: [1, { b: null }] } }]);
  });
});
