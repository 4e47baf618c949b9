import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import type { ToolResult } from "../src/model/result/result.ts";
import { defineTool } from "../src/tool.ts";
import type { Tool } from "../src/tool-definition.ts";
import { buildAndExecute, validateBuildAndExecute } from "../src/ungoverned.ts";

const { signal } = new AbortController();

function bodied(run: () => unknown): Tool {
  return defineTool({ name: "t", description: "Does a thing.", kind: "other", input: z.object({}), run: run as () => string });
}

/** A tool of somebody else's making whose build throws what it is told. */
function unbuildable(thrown: unknown): Tool {
  const build = (): never => {
    throw thrown;
  };
  return { ...bodied(() => "ok"), build };
}

function throwing(thrown: unknown): () => never {
  return () => {
    throw thrown;
  };
}

const unspeakable = { toString: throwing(new Error("no")) };
const invalid = (m: string): ToolResult => ({
  content: `Error: Invalid parameters provided. Reason: ${m}`,
  display: m,
  error: { message: m, type: "invalid_tool_params" },
});
const failed = (m: string, type = "execution_failed"): ToolResult => ({
  content: `Error: Tool call execution failed. Reason: ${m}`,
  display: m,
  error: { message: m, type },
});
const worthless: ToolResult = {
  content: "Error: Tool 't' ran, but its result could not be kept: it returned nothing.",
  display: "Tool 't' ran, but its result could not be kept: it returned nothing.",
  error: { message: "Tool 't' ran, but its result could not be kept: it returned nothing.", type: "invalid_tool_result" },
};
const carried: ToolResult = { content: "it broke", display: "broken", error: { message: "m", type: "file_not_found" }, details: { a: 1 } };

const rows: readonly (readonly [string, Tool, ToolResult])[] = [
  ["build throws an Error", unbuildable(new Error("m")), invalid("m")],
  ["build throws something else", unbuildable("v"), invalid("v")],
  ["the body rejects", bodied(() => Promise.reject(new Error("m"))), failed("m")],
  [
    "the body fails with a system's code",
    bodied(throwing(Object.assign(new Error("gone"), { code: "ENOENT" }))),
    failed("gone", "file_not_found"),
  ],
  ["the body throws something else", bodied(throwing(42)), failed("42")],
  ["the body throws what cannot be said", bodied(throwing(unspeakable)), failed("unknown error")],
  ["the body throws before its first await", bodied(throwing(new Error("m"))), failed("m")],
  ["the body returns a failure", bodied(() => carried), carried],
  ["the body returns undefined", bodied(() => undefined), worthless],
  ["the body returns null", bodied(async () => null), { content: [{ type: "json", value: null }], value: null }],
  ["the body returns a number", bodied(() => 3), { content: [{ type: "json", value: 3 }], value: 3 }],
  ["the body returns a text", bodied(() => "s"), { content: "s", display: "s" }],
];
for (const [name, tool, expected] of rows)
  test(name, async () => assert.deepEqual(await validateBuildAndExecute(tool, {}, signal), expected));

test("an input that does not fit", async () => {
  assert.deepEqual(
    await validateBuildAndExecute(
      bodied(() => "s"),
      null,
      signal,
    ),
    invalid("params must be object"),
  );
});

test("an input of too many levels is told apart", async () => {
  let deep: unknown = {};
  for (let i = 0; i < 600; i++) deep = { deep };
  const { error } = await validateBuildAndExecute(
    bodied(() => "s"),
    deep,
    signal,
  );
  assert.deepEqual(error, { message: "arguments exceed 512 levels", type: "input_too_large" });
});

test("an aborted signal starts no body", async () => {
  let started = 0;
  const tool = bodied(() => `${++started}`);
  const text = "The tool call was cancelled before it ran.";
  const expected = { content: text, display: text, error: { message: text, type: "cancelled" } };
  assert.deepEqual(await validateBuildAndExecute(tool, {}, AbortSignal.abort()), expected);
  assert.deepEqual(await buildAndExecute(tool, {}, AbortSignal.abort()), expected);
  assert.equal(started, 0);
});

test("buildAndExecute throws what build or the body throws, and resolves to the result", async () => {
  await assert.rejects(
    buildAndExecute(
      bodied(() => "s"),
      [],
      signal,
    ),
    { message: "params must be object" },
  );
  await assert.rejects(buildAndExecute(bodied(throwing("bare")), {}, signal), (thrown) => thrown === "bare");
  assert.deepEqual(
    await buildAndExecute(
      bodied(() => "s"),
      {},
      signal,
    ),
    { content: "s", display: "s" },
  );
});

test("both pass on the live display and the place of the call", async () => {
  const tool = defineTool({
    name: "t",
    description: "Does a thing.",
    kind: "other",
    input: z.object({}),
    canUpdateOutput: true,
    run: (_, { cwd, update }) => {
      update("half");
      return cwd;
    },
  });
  for (const run of [buildAndExecute, validateBuildAndExecute]) {
    const shown: unknown[] = [];
    const result = await run(tool, {}, signal, (display) => shown.push(display), { cwd: "/w", callId: "c", sessionId: "s" });
    assert.deepEqual([shown, result.content], [["half"], "/w"]);
  }
});
