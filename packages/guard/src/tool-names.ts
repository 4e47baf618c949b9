import type { JsonObject, Kind } from "@assent/core";
import { patchedFiles } from "./patched-files.ts";

/** A call of another agent as Assent's rules see it. */
export type OutsideCall = {
  /** A built-in tool of Assent, an MCP tool, or the agent's own name for what Assent doesn't know. */
  readonly tool: string;
  readonly kind: Kind;
  readonly input: JsonObject;
};

type ToolRow = {
  /** What the agents call it. */
  readonly names: readonly string[];
  readonly tool: string;
  readonly kind: Kind;
  /** Our field, then the fields of the agents that have its value. */
  readonly fields?: Readonly<Record<string, readonly string[]>>;
  /** Fields that only describe the call. */
  readonly drops?: readonly string[];
  /** Finds the files of an input without a single path. */
  readonly files?: (input: JsonObject) => readonly string[];
};

const FILE = ["file_path", "filePath", "absolute_path", "notebook_path", "path"];
const DIRECTORY = ["path", "dir_path", "directory"];

/** One row per tool of Assent; the same names mean the same in all agents. */
const ROWS: readonly ToolRow[] = [
  {
    names: ["Bash", "bash", "run_shell_command", "exec_command", "shell", "local_shell"],
    tool: "shell",
    kind: "execute",
    fields: { command: ["command", "cmd"], cwd: ["cwd", "workdir", "directory", "dir_path"] },
    drops: ["description", "justification", "timeout", "timeout_ms", "yield_time_ms", "max_output_tokens"],
  },
  {
    names: ["Edit", "edit", "replace"],
    tool: "edit",
    kind: "edit",
    fields: {
      file_path: FILE,
      old_string: ["old_string", "oldString"],
      new_string: ["new_string", "newString"],
      replace_all: ["replace_all", "replaceAll"],
    },
    drops: ["instruction"],
  },
  { names: ["MultiEdit", "NotebookEdit", "multiedit"], tool: "edit", kind: "edit", fields: { file_path: FILE } },
  { names: ["apply_patch", "patch"], tool: "edit", kind: "edit", files: patchedFiles },
  {
    names: ["Write", "write", "write_file"],
    tool: "write",
    kind: "edit",
    fields: { file_path: FILE, content: ["content"] },
  },
  {
    names: ["Read", "read", "read_file", "NotebookRead"],
    tool: "read",
    kind: "read",
    fields: { file_path: FILE, offset: ["offset"], limit: ["limit"] },
  },
  { names: ["Glob", "glob"], tool: "glob", kind: "search", fields: { pattern: ["pattern"], path: DIRECTORY } },
  {
    names: ["Grep", "grep", "grep_search", "search_file_content"],
    tool: "search",
    kind: "search",
    fields: { pattern: ["pattern"], path: DIRECTORY },
  },
  { names: ["LS", "list", "list_directory"], tool: "list", kind: "search", fields: { path: DIRECTORY }, drops: ["description"] },
  { names: ["WebFetch", "webfetch", "web_fetch"], tool: "fetch", kind: "fetch", fields: { url: ["url"] } },
  {
    names: ["Task", "Agent", "task", "agent"],
    tool: "agent",
    kind: "other",
    fields: { agent: ["subagent_type"], description: ["description"], prompt: ["prompt"] },
  },
  {
    names: ["TodoWrite", "TodoRead", "todo_write", "write_todos", "todowrite", "todoread", "update_plan"],
    tool: "todo",
    kind: "think",
  },
  { names: ["AskUserQuestion", "ask_user_question", "ask_user", "question"], tool: "ask", kind: "think" },
  { names: ["EnterPlanMode", "ExitPlanMode", "enter_plan_mode", "exit_plan_mode"], tool: "enter_plan_mode", kind: "think" },
  { names: ["BashOutput", "TaskOutput"], tool: "task_output", kind: "read" },
  { names: ["KillShell", "TaskStop"], tool: "task_stop", kind: "other" },
];

const BY_NAME = new Map(ROWS.flatMap((row) => row.names.map((name) => [name, row] as const)));

/** Translates a call. What has no field of ours stays in `more`, so that an approval covers it too. */
export function translateCall(name: string, input: JsonObject): OutsideCall {
  const row = BY_NAME.get(name);
  if (!row) return { tool: unknownTool(name), kind: "other", input };
  const { tool, kind, fields = {}, drops = [], files } = row;
  const more: Record<string, JsonObject[string]> = { ...input };
  for (const field of drops) delete more[field];
  const mapped: Record<string, JsonObject[string]> = {};
  for (const [ours, theirs] of Object.entries(fields)) {
    const found = theirs.find((one) => input[one] !== undefined && input[one] !== null);
    if (found === undefined) continue;
    mapped[ours] = asCommandLine(ours, input[found] ?? null);
    delete more[found];
  }
  if (files) mapped["files"] = [...files(input)];
  return { tool, kind, input: { ...mapped, ...(Object.keys(more).length > 0 && { more }) } };
}

/** Some agents give a command as a list of words. */
function asCommandLine(field: string, value: JsonObject[string]): JsonObject[string] {
  if (field !== "command" || !Array.isArray(value)) return value;
  const words = value.map(String);
  const [shell = "", option = "", line] = words;
  if (words.length === 3 && /(?:^|\/)(?:ba|z|da)?sh$/.test(shell) && /^-l?c$/.test(option) && line !== undefined) return line;
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(" ");
}

/** Only letters, digits, `_`, `-` and `.` may be in a tool's name. MCP tools keep theirs. */
function unknownTool(name: string): string {
  return name.replace(/[^\w.-]/g, "_").slice(0, 64) || "unnamed";
}
