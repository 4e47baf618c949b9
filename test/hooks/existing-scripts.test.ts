import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { hookScene, linesOf, type Scene, type SceneOptions } from "./hook-scene.ts";

/** Scripts as people have them in a project for coding agents, and the settings that name them, word by word. */
const BLOCK_DANGEROUS = `#!/usr/bin/env bash
# Refuses destructive commands. Exit 2 = block, stderr goes back to the model.
set -euo pipefail

INPUT=$(cat)
TOOL_NAME=$(printf '%s' "$INPUT" | grep -o '"tool_name":"[^"]*"' | head -n1 | cut -d'"' -f4)
COMMAND=$(printf '%s' "$INPUT" | sed -n 's/.*"command":"\\([^"]*\\)".*/\\1/p')

if [ "$TOOL_NAME" != "Bash" ]; then
  exit 0
fi

for pattern in 'rm -rf' 'git push --force' 'mkfs'; do
  if [[ "$COMMAND" == *"$pattern"* ]]; then
    echo "Blocked: '$pattern' is not allowed here. Use a safer command." >&2
    exit 2
  fi
done

exit 0
`;

const AUTO_APPROVE = `#!/usr/bin/env node
const fs = require("fs");
const input = JSON.parse(fs.readFileSync(0, "utf-8"));
const { tool_name, tool_input, hook_event_name, permission_mode } = input;

function decide(permissionDecision, permissionDecisionReason) {
  console.log(JSON.stringify({
    hookSpecificOutput: { hookEventName: hook_event_name, permissionDecision, permissionDecisionReason },
    suppressOutput: true,
  }));
  process.exit(0);
}

if (tool_name === "Bash" && /^npm (test|run lint)$/.test(tool_input.command)) decide("allow", "tests and lint are fine");
if (tool_name === "Bash" && /\\bsudo\\b/.test(tool_input.command)) decide("deny", "no sudo in " + permission_mode + " mode");
if (tool_name === "Bash" && /^npm publish/.test(tool_input.command)) decide("ask", "a person publishes");
process.exit(0);
`;

const ADD_CONTEXT = `#!/bin/sh
# Adds the project's notes after every read, and logs what happened.
input=$(cat)
case "$input" in
  *'"hook_event_name":"PostToolUse"'*) ;;
  *) echo "unexpected event" >&2; exit 1 ;;
esac
printf '%s\\n' "$input" >> "$CLAUDE_PROJECT_DIR/.claude/log.jsonl"
notes=$(cat "$CLAUDE_PROJECT_DIR/.claude/notes.txt")
printf '{"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "%s"}}\\n' "$notes"
`;

const SETTINGS = {
  PreToolUse: [
    { matcher: "Bash", hooks: [{ type: "command", command: '"$CLAUDE_PROJECT_DIR"/.claude/hooks/block-dangerous.sh' }] },
    { matcher: "Bash|Edit|Write", hooks: [{ type: "command", command: "$CLAUDE_PROJECT_DIR/.claude/hooks/auto-approve.js", timeout: 30 }] },
  ],
  PostToolUse: [{ matcher: "Read|Grep", hooks: [{ type: "command", command: "sh .claude/hooks/add-context.sh" }] }],
};

async function project(t: TestContext, options: Omit<SceneOptions, "hooks"> = {}): Promise<Scene> {
  const scene = await hookScene(t, { hooks: SETTINGS, ...options });
  const hooks = join(scene.directory, ".claude", "hooks");
  mkdirSync(hooks, { recursive: true });
  writeFileSync(join(hooks, "block-dangerous.sh"), BLOCK_DANGEROUS, { mode: 0o755 });
  writeFileSync(join(hooks, "auto-approve.js"), AUTO_APPROVE, { mode: 0o755 });
  writeFileSync(join(hooks, "add-context.sh"), ADD_CONTEXT);
  writeFileSync(join(scene.directory, ".claude", "notes.txt"), "main is frozen until Friday");
  return scene;
}

test("a bash script that reads tool_name and tool_input and exits 2 blocks, and tells the model why", async (t) => {
  const scene = await project(t, { mode: "yolo" });
  const { outcome, text } = await scene.call("rm -rf build");
  assert.equal(outcome, "denied denied_by_hook");
  assert.equal(text, "Tool call blocked by hook: Blocked: 'rm -rf' is not allowed here. Use a safer command.");
  assert.equal((await scene.call("ls -la")).outcome, "succeeded");
  assert.deepEqual(scene.world(), ["ls -la"]);
});

test("a script that prints permissionDecision allows, denies and asks", async (t) => {
  const alone = await project(t);
  assert.equal((await alone.call("npm test")).outcome, "succeeded");
  assert.equal((await alone.call("make")).outcome, "denied denied_unattended", "without an opinion the default ask stays");
  const yolo = await project(t, { mode: "yolo", person: "reject" });
  const denied = await yolo.call("sudo ls");
  assert.deepEqual(
    [denied.outcome, denied.text],
    ["denied denied_by_hook", "Tool call blocked by hook: no sudo in bypassPermissions mode"],
  );
  assert.equal((await yolo.call("npm publish")).outcome, "rejected rejected_by_user");
  assert.deepEqual([...alone.world(), ...yolo.world()], ["npm test"]);
});

test("a script that prints additionalContext speaks to the model with the result", async (t) => {
  const scene = await project(t);
  const { outcome, text } = await scene.call("README.md", "read");
  assert.equal(outcome, "succeeded");
  assert.equal(text, 'content of README.md\n<hook name="sh .claude/hooks/add-context.sh">\nmain is frozen until Friday\n</hook>');
  const [logged = "", ...more] = linesOf(join(scene.directory, ".claude", "log.jsonl"));
  assert.deepEqual(more, []);
  const {
    session_id: session,
    cwd,
    tool_name: tool,
    tool_input: input,
    tool_response: response,
    permission_mode: mode,
  } = JSON.parse(logged);
  assert.deepEqual(
    [typeof session, cwd, tool, input, response, mode],
    ["string", scene.directory, "Read", { path: "README.md" }, "content of README.md", "default"],
  );
});
