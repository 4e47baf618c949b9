import assert from "node:assert/strict";
import { test } from "node:test";
import { postToolHookInput, toolHookInput } from "../../../src/model/hooks/input.ts";

const session = { sessionId: "s_1", transcriptPath: "/t.jsonl", cwd: "/w", mode: "auto-edit", agentName: "main" };
const call = { callId: "c1", tool: "shell", kind: "execute", input: { command: "ls" } } as const;

const base = {
  session_id: "s_1",
  transcript_path: "/t.jsonl",
  cwd: "/w",
  hook_event_name: "PreToolUse",
  permission_mode: "acceptEdits",
  mode: "auto-edit",
  agent_name: "main",
  tool_name: "Bash",
  tool: "shell",
  tool_use_id: "c1",
  tool_kind: "execute",
  tool_input: { command: "ls" },
};

test("a tool event carries the common names beside ours", () => assert.deepEqual(toolHookInput(session, call), base));

test("no arguments are an empty object, and an absent cwd is left to the runner", () => {
  const input = toolHookInput({ sessionId: "s_1", mode: "default" }, { callId: "c1", tool: "own", kind: "other" });
  assert.deepEqual(input["tool_input"], {});
  assert.equal("cwd" in input, false);
  assert.deepEqual([input["transcript_path"], input["agent_name"]], ["", ""]);
});

const names: readonly (readonly [ours: string, common: string])[] = [
  ["shell", "Bash"],
  ["read", "Read"],
  ["write", "Write"],
  ["edit", "Edit"],
  ["search", "Grep"],
  ["glob", "Glob"],
  ["list", "LS"],
  ["fetch", "WebFetch"],
  ["todo", "TodoWrite"],
  ["agent", "Task"],
  ["ask", "AskUserQuestion"],
  ["ast_edit", "ast_edit"],
  ["Shell", "Shell"],
  ["constructor", "constructor"],
  ["mcp__tracker__close", "mcp__tracker__close"],
];

for (const [ours, common] of names) {
  test(`the tool ${ours} is called ${common}`, () => {
    const input = toolHookInput(session, { ...call, tool: ours });
    assert.deepEqual([input["tool_name"], input["tool"]], [common, ours]);
  });
}

const modes: readonly (readonly [ours: string, shared: string])[] = [
  ["default", "default"],
  ["plan", "plan"],
  ["auto-edit", "acceptEdits"],
  ["yolo", "bypassPermissions"],
  ["bogus", "default"],
];

for (const [ours, shared] of modes) {
  test(`the mode ${ours} is called ${shared}`, () => {
    const input = toolHookInput({ ...session, mode: ours }, call);
    assert.deepEqual([input["permission_mode"], input["mode"]], [shared, ours]);
  });
}

const events: readonly (readonly [ours: string, shared: string])[] = [
  ["pre_tool_use", "PreToolUse"],
  ["permission_request", "PermissionRequest"],
  ["post_tool_use", "PostToolUse"],
  ["post_tool_use_failure", "PostToolUseFailure"],
  ["post_tool_batch", "PostToolBatch"],
  ["permission_denied", "PermissionDenied"],
  ["tool_response_transform", "tool_response_transform"],
  ["on_tool_approval_decision", "on_tool_approval_decision"],
  ["on_user_input", "on_user_input"],
];

for (const [ours, shared] of events) {
  test(`the event ${ours} is called ${shared}`, () => {
    assert.equal(toolHookInput(session, { ...call, event: ours })["hook_event_name"], shared);
  });
}

const servers: readonly (readonly [tool: string, server: string | undefined])[] = [
  ["mcp__tracker__close_ticket", "tracker"],
  ["mcp__my_server-2__x", "my_server-2"],
  ["mcp__a__b__c", "a"],
  ["mcp__a", undefined],
  ["mcp____x", undefined],
  ["tool", undefined],
];

for (const [tool, server] of servers) {
  test(`the server of ${tool} is ${server ?? "none"}`, () => {
    assert.deepEqual(toolHookInput(session, { ...call, tool })["mcp_server"], server === undefined ? undefined : { name: server });
  });
}

test("after a success come response, error flag and duration", () => {
  assert.deepEqual(postToolHookInput(session, call, { content: "done", durationMs: 12 }), {
    ...base,
    hook_event_name: "PostToolUse",
    tool_response: "done",
    tool_error: false,
    duration_ms: 12,
  });
});

test("parts stay parts", () => {
  const content = [{ type: "text", text: "a" } as const];
  assert.deepEqual(postToolHookInput(session, call, { content, durationMs: 0 })["tool_response"], content);
});

test("after a failure come also the error, its type and whether it was interrupted", () => {
  const result = { content: "Error: x", durationMs: 3, error: { message: "x", type: "cancelled" }, interrupted: true };
  assert.deepEqual(postToolHookInput(session, call, result), {
    ...base,
    hook_event_name: "PostToolUseFailure",
    tool_response: "Error: x",
    tool_error: true,
    duration_ms: 3,
    error: "x",
    error_type: "cancelled",
    is_interrupt: true,
  });
});

test("an error without a type is unknown, and not an interrupt", () => {
  const input = postToolHookInput(session, call, { content: "", durationMs: 0, error: { message: "x" } });
  assert.deepEqual([input["error_type"], input["is_interrupt"]], ["unknown", false]);
});

test("an event that is named keeps its name after a failure too", () => {
  const result = { content: "", durationMs: 0, error: { message: "x" } };
  assert.equal(
    postToolHookInput(session, { ...call, event: "tool_response_transform" }, result)["hook_event_name"],
    "tool_response_transform",
  );
});
