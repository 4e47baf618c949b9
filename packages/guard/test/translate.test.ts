import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@assent/core";
import { type AgentName, translateCall } from "@assent/guard";

type Row = readonly [sentence: string, agent: AgentName, name: string, input: JsonObject, tool: string, ours: JsonObject];

const ROWS: readonly Row[] = [
  ["a command of Claude Code", "claude", "Bash", { command: "ls", description: "list", timeout: 9 }, "shell", { command: "ls" }],
  [
    "a command in the background keeps that",
    "claude",
    "Bash",
    { command: "ls", run_in_background: true },
    "shell",
    { command: "ls", more: { run_in_background: true } },
  ],
  [
    "a command of Gemini CLI with its directory",
    "gemini",
    "run_shell_command",
    { command: "ls", dir_path: "sub" },
    "shell",
    { command: "ls", cwd: "sub" },
  ],
  [
    "the start of a subagent names it, so that a rule can allow it",
    "claude",
    "Agent",
    { subagent_type: "explorer", prompt: "look", description: "x", run_in_background: true },
    "agent",
    { agent: "explorer", prompt: "look", description: "x", more: { run_in_background: true } },
  ],
  ["a command given as a shell and its line", "codex", "shell", { command: ["bash", "-lc", "ls | wc"] }, "shell", { command: "ls | wc" }],
  [
    "a command given as words is quoted",
    "codex",
    "shell",
    { command: ["git", "commit", "-m", "it's; done"] },
    "shell",
    { command: "git commit -m 'it'\\''s; done'" },
  ],
  [
    "a list of words with options of a shell is not its line",
    "codex",
    "shell",
    { command: ["bash", "-x", "a b"] },
    "shell",
    { command: "bash -x 'a b'" },
  ],
  [
    "an edit of Claude Code",
    "claude",
    "Edit",
    { file_path: "a", old_string: "b", new_string: "c" },
    "edit",
    { file_path: "a", old_string: "b", new_string: "c" },
  ],
  [
    "an edit of opencode",
    "opencode",
    "edit",
    { filePath: "a", oldString: "b", newString: "c" },
    "edit",
    { file_path: "a", old_string: "b", new_string: "c" },
  ],
  [
    "several edits keep their list",
    "claude",
    "MultiEdit",
    { file_path: "a", edits: [{ old_string: "b" }] },
    "edit",
    { file_path: "a", more: { edits: [{ old_string: "b" }] } },
  ],
  [
    "a patch names its files",
    "codex",
    "apply_patch",
    { command: "*** Begin Patch\n*** Update File: a.ts\n*** Move to: b.ts\n*** Add File: c d.ts\n*** End Patch" },
    "edit",
    {
      files: ["a.ts", "b.ts", "c d.ts"],
      more: { command: "*** Begin Patch\n*** Update File: a.ts\n*** Move to: b.ts\n*** Add File: c d.ts\n*** End Patch" },
    },
  ],
  [
    "a notebook is a file",
    "claude",
    "NotebookEdit",
    { notebook_path: "n.ipynb", new_source: "1" },
    "edit",
    { file_path: "n.ipynb", more: { new_source: "1" } },
  ],
  ["a new file", "gemini", "write_file", { file_path: "a", content: "b" }, "write", { file_path: "a", content: "b" }],
  ["a file to read", "qwen", "read_file", { absolute_path: "/a" }, "read", { file_path: "/a" }],
  ["a search", "claude", "Grep", { pattern: "x", path: "src", "-n": true }, "search", { pattern: "x", path: "src", more: { "-n": true } }],
  [
    "a page",
    "claude",
    "WebFetch",
    { url: "https://example.test", prompt: "sum up" },
    "fetch",
    { url: "https://example.test", more: { prompt: "sum up" } },
  ],
  ["a tool of an MCP server keeps its name and input", "claude", "mcp__git__log", { n: 1 }, "mcp__git__log", { n: 1 }],
  ["an unknown tool keeps its name and input", "claude", "Teleport", { to: "moon" }, "Teleport", { to: "moon" }],
  ["a name with odd characters gets plain ones and a digest", "claude", "a b/c\n", { x: 1 }, "a_b_c_-12a98d85191b", { x: 1 }],
  ["a name that differs only in odd characters gets another digest", "claude", "a b/c ", { x: 1 }, "a_b_c_-0d6f097b49fc", { x: 1 }],
  ["a name that is too long gets a digest", "claude", `${"x".repeat(70)}a`, {}, `${"x".repeat(51)}-6e42a575ddd3`, {}],
  ["an unknown tool with the name of a tool of Assent is another one", "claude", "search", {}, "search-241932906782", {}],
  ["a tool of one agent is unknown in another", "opencode", "read_file", { path: "a" }, "read_file", { path: "a" }],
  ["a name in other letters is unknown", "claude", "BASH", { command: "ls" }, "BASH", { command: "ls" }],
  ["a command that is watched", "claude", "Monitor", { command: "ls", description: "x", timeout_ms: 9 }, "shell", { command: "ls" }],
  ["an image that Codex looks at is a file", "codex", "view_image", { path: "/a.png" }, "read", { file_path: "/a.png" }],
  [
    "a subagent of Gemini CLI",
    "gemini",
    "invoke_agent",
    { agent_name: "explorer", prompt: "look" },
    "agent",
    { agent: "explorer", prompt: "look" },
  ],
  ["a name of a property of all objects is unknown", "claude", "constructor", {}, "constructor", {}],
];

for (const [sentence, agent, name, input, tool, ours] of ROWS) {
  test(sentence, () => {
    const { tool: named, input: translated } = translateCall(agent, name, input);
    assert.deepEqual([named, translated], [tool, ours]);
  });
}
