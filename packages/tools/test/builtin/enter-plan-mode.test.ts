import assert from "node:assert/strict";
import { test } from "node:test";
import { enterPlanModeTool } from "../../src/index.ts";

test("enter_plan_mode never asks, takes no input, and is implemented by the runtime", async () => {
  const tool = enterPlanModeTool();
  const invocation = await tool.build({}, { cwd: "/", callId: "c", sessionId: "s" });
  assert.deepEqual(
    [await invocation.permission(), tool.definition.runtimeHandler, tool.kind, tool.hidden],
    ["allow", "enter_plan_mode", "think", false],
  );
  await assert.rejects(async () => tool.build({ why: "x" }, { cwd: "/", callId: "c", sessionId: "s" }), /additional propert/);
});
