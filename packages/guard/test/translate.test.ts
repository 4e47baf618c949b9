import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@assent/core";
import { translateCall } from "@assent/guard";

type Row = readonly [sentence: string, name: string, input: JsonObject, tool: string, ours: JsonObject];

const ROWS: readonly Row[] = [
  ["a command of Claude Code", "Bash", { command: "ls", description: "list", timeout: 9 }, "shell", { command: "ls" }],
  [
    "a command in the background keeps that",
    "Bash",
    { command: "ls", run_in_background: true },
    "shell",
    { command: "ls", more: { run_in_background: true } },
  ],
  [
    "a command of Gemini CLI with its directory",
    "run_shell_command",
    { command: "ls", dir_path: "sub" },
    "shell",
    { command: "ls", cwd: "sub" },
  ],
  [
    "the start of a subagent names it, so that a rule can allow it",
    "Agent",
    { subagent_type: "explorer", prompt: "look", description: "x", run_in_background: true },
    "agent",
    { agent: "explorer", prompt: "look", description: "x", more: { run_in_background: true } },
  ],
  ["a command given as a shell and its line", "shell", { command: ["bash", "-lc", "ls | wc"] }, "shell", { command: "ls | wc" }],
  [
    "a command given as words is quoted",
    "shell",
    { command: ["git", "commit", "-m", "it's; done"] },
    "shell",
    { command: "git commit -m 'it'\\''s; done'" },
  ],
  [
    "a list of words with options of a shell is not its line",
    "shell",
    { command: ["bash", "-x", "a b"] },
    "shell",
    { command: "bash -x 'a b'" },
  ],
  [
    "an edit of Claude Code",
    "Edit",
    { file_path: "a", old_string: "b", new_string: "c" },
    "edit",
    { file_path: "a", old_string: "b", new_string: "c" },
  ],
  [
    "an edit of opencode",
    "edit",
    { filePath: "a", oldString: "b", newString: "c" },
    "edit",
    { file_path: "a", old_string: "b", new_string: "c" },
  ],
  [
    "several edits keep their list",
    "MultiEdit",
    { file_path: "a", edits: [{ old_string: "b" }] },
    "edit",
    { file_path: "a", more: { edits: [{ old_string: "b" }] } },
  ],
  [
    "a patch names its files",
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
    "NotebookEdit",
    { notebook_path: "n.ipynb", new_source: "1" },
    "edit",
    { file_path: "n.ipynb", more: { new_source: "1" } },
  ],
  ["a new file", "write_file", { file_path: "a", content: "b" }, "write", { file_path: "a", content: "b" }],
  ["a file to read", "read_file", { absolute_path: "/a" }, "read", { file_path: "/a" }],
  ["a search", "Grep", { pattern: "x", path: "src", "-n": true }, "search", { pattern: "x", path: "src", more: { "-n": true } }],
  [
    "a page",
    "WebFetch",
    { url: "https://example.test", prompt: "sum up" },
    "fetch",
    { url: "https://example.test", more: { prompt: "sum up" } },
  ],
  ["a tool of an MCP server keeps its name and input", "mcp__git__log", { n: 1 }, "mcp__git__log", { n: 1 }],
  ["an unknown tool keeps its name and input", "Teleport", { to: "moon" }, "Teleport", { to: "moon" }],
  ["a name with odd characters gets plain ones", "a b/c\n", { x: 1 }, "a_b_c_", { x: 1 }],
  ["a name of a property of all objects is unknown", "constructor", {}, "constructor", {}],
];

for (const [sentence, name, input, tool, ours] of ROWS) {
  test(sentence, () => {
    const { tool: named, input: translated } = translateCall(name, input);
    assert.deepEqual([named, translated], [tool, ours]);
  });
}
