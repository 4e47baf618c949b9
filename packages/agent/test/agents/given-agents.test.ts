import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readAgentDefinitions } from "../../src/agents/load.ts";

const GOOD = { description: "helps", prompt: "You help.\n---\nAlways." };

const BAD: readonly [sentence: string, name: string, definition: unknown, message: string][] = [
  ["a reserved name", "fork", GOOD, '"fork" is reserved'],
  ["a name that is none", "Help Me", GOOD, "name must match ^[a-z][a-z0-9_-]{0,63}$"],
  ["yolo", "wild", { ...GOOD, mode: "yolo" }, 'mode "yolo" is not allowed in an agent definition'],
  ["background that is no truth value", "slow", { ...GOOD, background: "yes" }, "background must be true or false"],
  ["a prompt that is too long", "long", { ...GOOD, prompt: "x".repeat(262_145) }, "prompt larger than 262144 bytes"],
  ["no description", "mute", { prompt: "x" }, "description is missing"],
  ["no prompt", "empty", { description: "x" }, "prompt must be a text"],
  ["no definition at all", "none", 7, "the definition must be an object"],
];

describe("agents that a program gives", () => {
  test("are the user's own, with every field of a file", () => {
    const fields = {
      model: "a:b",
      tools: ["read"],
      disallowedTools: ["shell"],
      mode: "plan",
      background: true,
      maxTurns: 3,
      maxTimeMs: 5000,
    };
    const { agents, problems, warnings } = readAgentDefinitions({ helper: { ...GOOD, ...fields, name: "other", color: "red" } }, "given");
    const [agent] = agents;
    assert.deepEqual(
      { ...agent, digest: "" },
      { ...GOOD, ...fields, name: "helper", file: "given.helper", level: "user", usable: true, digest: "" },
    );
    assert.match(agent?.digest ?? "", /^sha256:[0-9a-f]{64}$/);
    assert.deepEqual([problems, warnings], [[], ["given.helper: unknown field color"]]);
  });

  for (const [sentence, name, definition, message] of BAD) {
    test(`${sentence}: left out and reported`, () => {
      const { agents, problems } = readAgentDefinitions({ [name]: definition, helper: GOOD }, "given");
      assert.deepEqual(
        agents.map((agent) => agent.name),
        ["helper"],
      );
      assert.deepEqual(
        problems.map((problem) => [problem.file, problem.message]),
        [[`given.${name}`, message]],
      );
    });
  }
});
