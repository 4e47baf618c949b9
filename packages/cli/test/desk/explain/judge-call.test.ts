import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createRegistry, defineTool, type Registry, staticPolicy } from "@assent/core";
import { manualClock } from "@assent/core/testing";
import { ajvSchemas } from "@assent/host";
import { isInvalidCall, type JudgeParts, judgeCall } from "../../../src/desk/explain/judge-call.ts";

const INPUT = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;

function registry(): Registry {
  const tools = createRegistry({ schemas: ajvSchemas() });
  const run = (): never => assert.fail("it ran");
  tools.add(defineTool({ name: "mark", description: "marks", kind: "edit", input: INPUT, run }));
  tools.add(defineTool({ name: "secret", description: "hidden", kind: "edit", input: INPUT, hidden: true, run }));
  return tools;
}

function judging(): JudgeParts {
  return {
    tools: registry(),
    policy: staticPolicy({ mode: "yolo" }).current(),
    facts: () => ({ units: [{ subject: "x" }], binds: {} }),
    digest: { sha256: (text) => String(text.length) },
    clock: manualClock(),
  };
}

describe("judging a call that is not to run", () => {
  test("a call that fits is judged, and nothing runs", async () => {
    const judged = await judgeCall(judging(), { tool: "mark", input: { text: "a" }, cwd: "/" });
    assert.ok(!isInvalidCall(judged));
    assert.deepEqual([judged.decision.verdict, judged.decision.reason], ["allow", "yolo"]);
  });

  test("a hidden tool, such as resolve, is judged like any other", async () => {
    const judged = await judgeCall(judging(), { tool: "secret", input: { text: "a" }, cwd: "/" });
    assert.ok(!isInvalidCall(judged));
    assert.equal(judged.decision.verdict, "allow");
  });

  const refused: readonly (readonly [string, string, unknown, string, RegExp])[] = [
    ["a tool that is not there", "marc", { text: "a" }, "tool_not_registered", /^There is no tool 'marc'\. Did you mean 'mark'\?$/],
    ["a hidden tool is not suggested", "secrets", { text: "a" }, "tool_not_registered", /^There is no tool 'secrets'\.$/],
    ["an input against the schema", "mark", { text: [] }, "invalid_tool_params", /text/],
    ["no input at all", "mark", undefined, "invalid_tool_params", /object/],
    ["an input that no JSON text has", "mark", { text: "\ud800" }, "invalid_tool_params", /surrogate/],
  ];
  for (const [name, tool, input, type, message] of refused)
    test(`no call: ${name}`, async () => {
      const judged = await judgeCall(judging(), { tool, input, cwd: "/" });
      assert.ok(isInvalidCall(judged));
      assert.equal(judged.type, type);
      assert.match(judged.message, message);
    });
});
