import { createHash } from "node:crypto";
import type { JsonObject, Kind } from "@assent/core";
import { quoteWord } from "@assent/core/parts";
import type { AgentName } from "./agents.ts";
import { patchedFiles } from "./patched-files.ts";

/** A call of another agent as Assent's rules see it. */
export type OutsideCall = {
  /** A built-in tool of Assent, an MCP tool, or the agent's own name for what Assent doesn't know. */
  readonly tool: string;
  readonly kind: Kind;
  readonly input: JsonObject;
};

type ToolRow = {
  /** What each agent calls it. The same name may be a tool of an MCP server or of a project in another agent. */
  readonly names: Readonly<Partial<Record<AgentName, readonly string[]>>>;
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

/** One row per tool of Assent, with what the agents at the tested versions offer. */
const ROWS: readonly ToolRow[] = [
  {
    names: {
      claude: ["Bash", "Monitor"],
      codex: ["Bash", "shell", "local_shell", "exec_command"],
      gemini: ["run_shell_command"],
      qwen: ["run_shell_command", "monitor"],
      opencode: ["bash"],
    },
    tool: "shell",
    kind: "execute",
    fields: { command: ["command", "cmd"], cwd: ["cwd", "workdir", "directory", "dir_path"] },
    drops: ["description", "justification", "timeout", "timeout_ms", "yield_time_ms", "max_output_tokens"],
  },
  {
    names: { claude: ["Edit"], gemini: ["replace"], qwen: ["edit"], opencode: ["edit"] },
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
  {
    names: { claude: ["MultiEdit", "NotebookEdit"], qwen: ["notebook_edit"], opencode: ["multiedit"] },
    tool: "edit",
    kind: "edit",
    fields: { file_path: FILE },
  },
  { names: { codex: ["apply_patch"], opencode: ["apply_patch", "patch"] }, tool: "edit", kind: "edit", files: patchedFiles },
  {
    names: { claude: ["Write"], gemini: ["write_file"], qwen: ["write_file"], opencode: ["write"] },
    tool: "write",
    kind: "edit",
    fields: { file_path: FILE, content: ["content"] },
  },
  {
    names: { claude: ["Read", "NotebookRead"], codex: ["view_image"], gemini: ["read_file"], qwen: ["read_file"], opencode: ["read"] },
    tool: "read",
    kind: "read",
    fields: { file_path: FILE, offset: ["offset"], limit: ["limit"] },
  },
  {
    names: { claude: ["Glob"], gemini: ["glob"], qwen: ["glob"], opencode: ["glob"] },
    tool: "glob",
    kind: "search",
    fields: { pattern: ["pattern"], path: DIRECTORY },
  },
  {
    names: { claude: ["Grep"], gemini: ["grep_search", "search_file_content"], qwen: ["grep_search"], opencode: ["grep"] },
    tool: "search",
    kind: "search",
    fields: { pattern: ["pattern"], path: DIRECTORY },
  },
  {
    names: { claude: ["LS"], gemini: ["list_directory"], qwen: ["list_directory"], opencode: ["list"] },
    tool: "list",
    kind: "search",
    fields: { path: DIRECTORY },
    drops: ["description"],
  },
  {
    names: { claude: ["WebFetch"], gemini: ["web_fetch"], qwen: ["web_fetch"], opencode: ["webfetch"] },
    tool: "fetch",
    kind: "fetch",
    fields: { url: ["url"] },
  },
  {
    names: { claude: ["Task", "Agent"], gemini: ["invoke_agent"], qwen: ["task", "agent"], opencode: ["task"] },
    tool: "agent",
    kind: "other",
    fields: { agent: ["subagent_type", "agent_name"], description: ["description"], prompt: ["prompt"] },
  },
  {
    names: {
      claude: ["TodoWrite", "TodoRead", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate"],
      codex: ["update_plan"],
      gemini: ["write_todos", "update_topic"],
      qwen: ["todo_write"],
      opencode: ["todowrite", "todoread"],
    },
    tool: "todo",
    kind: "think",
  },
  {
    names: {
      claude: ["AskUserQuestion"],
      codex: ["request_user_input"],
      gemini: ["ask_user"],
      qwen: ["ask_user_question"],
      opencode: ["question"],
    },
    tool: "ask",
    kind: "think",
  },
  {
    names: {
      claude: ["EnterPlanMode", "ExitPlanMode"],
      gemini: ["enter_plan_mode", "exit_plan_mode"],
      qwen: ["enter_plan_mode", "exit_plan_mode"],
    },
    tool: "enter_plan_mode",
    kind: "think",
  },
  {
    names: { claude: ["BashOutput", "TaskOutput"], gemini: ["read_background_output", "list_background_processes"] },
    tool: "task_output",
    kind: "read",
  },
  { names: { claude: ["KillShell", "TaskStop"], qwen: ["task_stop"] }, tool: "task_stop", kind: "other" },
];

/** The built-in tools of Assent that calls of other agents are judged as. */
export const MAPPED_TOOLS: readonly string[] = [...new Set(ROWS.map(({ tool }) => tool))];

/** Translates a call. What has no field of ours stays in `more`, so that an approval covers it too. */
export function translateCall(agent: AgentName, name: string, input: JsonObject): OutsideCall {
  const row = ROWS.find(({ names }) => names[agent]?.includes(name));
  if (!row) return { tool: unknownTool(name), kind: "other", input };
  const { tool, kind, fields = {}, drops = [], files } = row;
  const more: Record<string, JsonObject[string]> = { ...input };
  for (const field of drops) delete more[field];
  const mapped: Record<string, JsonObject[string]> = {};
  for (const [ours, theirs] of Object.entries(fields)) {
    const found = theirs.find((one) => input[one] !== undefined && input[one] !== null);
    if (found === undefined) continue;
    const value = agent === "codex" && ours === "command" ? asCommandLine(input[found] ?? null) : (input[found] ?? null);
    if (TEXTS.has(ours) && typeof value !== "string") continue; // a form of the call that Assent doesn't know
    mapped[ours] = value;
    delete more[found];
  }
  if (files) mapped["files"] = [...files(input)];
  return { tool, kind, input: { ...mapped, ...(Object.keys(more).length > 0 && { more }) } };
}

/** Tools with which an agent asks its own person. Assent records them and leaves the answer to the person. */
export const FOR_PERSON: ReadonlySet<string> = new Set(["ask", "enter_plan_mode"]);

/** Fields that say what the call is about. With another type than text they stay in `more`. */
const TEXTS: ReadonlySet<string> = new Set(["command", "cwd", "file_path", "path", "url", "pattern"]);

/** Codex may give a command as a list of words. In another agent a list could mean several commands. */
function asCommandLine(words: JsonObject[string]): JsonObject[string] {
  if (!isTexts(words)) return words;
  const [shell = "", option = "", line] = words;
  if (words.length === 3 && /(?:^|\/)(?:ba|z|da)?sh$/.test(shell) && /^-l?c$/.test(option) && line !== undefined) return line;
  return words.map(quoteWord).join(" ");
}

function isTexts(value: JsonObject[string]): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

const PLAIN = /^[\w-]{1,64}$/;

/**
 * A tool that Assent doesn't know keeps its name. A name that is too long, has other characters, or is that of a tool of Assent gets a
 * digest, so that no rule or answer about another tool counts for it.
 */
function unknownTool(name: string): string {
  if (PLAIN.test(name) && !MAPPED_TOOLS.includes(name)) return name;
  const digest = createHash("sha256").update(name).digest("hex").slice(0, 12);
  return `${name.replace(/[^\w-]/g, "_").slice(0, 51)}-${digest}`;
}
