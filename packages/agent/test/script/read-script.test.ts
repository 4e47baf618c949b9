import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readScript, ScriptError } from "../../src/index.ts";

const RESULTS = "turns:\n  - say: a\n  - expect: { results: [{ contains: b }] }";

describe("invalid scripts", () => {
  const rows: readonly [sentence: string, text: string, message: string][] = [
    ["nothing", "", "s.yaml:1: script must be an object"],
    ["no turns", "allowUnused: true", "s.yaml:1: script needs 'turns'"],
    ["text that is no YAML", "turns: [\n", "s.yaml:2: Flow sequence in block collection must be sufficiently indented and end with a ]"],
    [
      "a key that is not known",
      "turns:\n  - sya: a",
      "s.yaml:2: script.turns[0] has no key 'sya'; known are say, calls, error, delayMs, usage, truncated, expect",
    ],
    ["a key twice", "turns: []\nturns: []", "s.yaml:2: Map keys must be unique"],
    ["a value of another kind", "turns:\n  - say: 7", "s.yaml:2: script.turns[0].say must be string"],
    [
      "an alias of nothing",
      "turns:\n  - calls: [{ tool: t, input: { a: *b } }]",
      "s.yaml:2: the alias *b is not understood: write the value out",
    ],
    [
      "an alias of what it stands in",
      "turns:\n  - calls: [{ tool: t, input: &a [*a] }]",
      "s.yaml:2: the alias *a is not understood: write the value out",
    ],
    ["a list as a key", "turns:\n  - calls: [{ tool: t, input: { [a]: 1 } }]", "s.yaml:2: a key must be a name"],
    ["a tag that is not known", "turns:\n  !mine []", "s.yaml:2: Unresolved tag: !mine"],
    [
      "a tag that makes bytes",
      "turns:\n  - calls: [{ tool: t, input: !!binary aGk= }]",
      "s.yaml:2: the tag tag:yaml.org,2002:binary is not understood",
    ],
    ["an agent without turns", "turns: []\nagents:\n  helper: {}", "s.yaml:3: agents.helper needs 'turns'"],
    [
      "a turn that fails and speaks",
      "turns:\n  - say: a\n    error: { status: 1, message: b }",
      "s.yaml:2: script.turns[0] fails, so it cannot say or call anything",
    ],
    ["a call without a tool", "turns:\n  - calls: [{ id: a }]", "s.yaml:2: script.turns[0] has a call without a tool"],
    ["a result of no call", RESULTS, "s.yaml:3: script.turns[1] expects a result without saying of which call"],
    ["a capability that is none", "turns: []\ncapability: all", "s.yaml:2: capability must be named, required or auto"],
  ];
  for (const [sentence, text, message] of rows)
    test(sentence, () => assert.throws(() => readScript(text, "s.yaml"), { name: ScriptError.name, message }));
});
