import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { compileGlob, isObject, type Json, type JsonObject } from "@assent/core";
import { PROGRAM_VARIABLES, SHELL_VARIABLES } from "@assent/core/parts";
import type { AgentName } from "../agents.ts";
import { hookGroups, readConfig } from "./hook-config.ts";

/** The call that a hook decides about. */
export type GuardedCall = { readonly tool: string; readonly session: string };

/** Where a project's configuration is looked for: the directory and those above it, up to the user's own. */
export type ProjectPlace = {
  readonly directory: string;
  readonly home: string;
  /** The directory of the user's own configuration of Claude Code. */
  readonly claudeConfig: string;
  /** The path of Assent's wrapper script. */
  readonly wrapper: string;
  /** Without it, a reason for any call counts. */
  readonly call?: GuardedCall;
};

/** Reads the files of a project. */
export type ProjectReader = {
  /** Undefined for a missing file. */
  readonly read: (path: string) => string | undefined;
  /** The names in a directory; empty if there is none. */
  readonly list: (path: string) => readonly string[];
};

const DEFINITIONS: Readonly<Partial<Record<AgentName, readonly string[]>>> = {
  claude: [".claude/agents", ".claude/commands", ".claude/skills"],
  qwen: [".qwen/agents", ".qwen/commands", ".qwen/skills", ".agents/skills"],
};

export type DefinitionFiles = {
  readonly paths: readonly string[];
  /** Folders with more than Assent looks through, for example because of a link to a folder above. */
  readonly tooLarge: readonly string[];
};

/** Subagents, commands and skills of a project. Each may bring hooks that apply while it runs. */
export function listDefinitionFiles(agent: AgentName, project: string, files: ProjectReader): DefinitionFiles {
  const found = (DEFINITIONS[agent] ?? []).map((name) => markdownBelow(join(project, name), files));
  return { paths: found.flatMap(({ paths }) => paths), tooLarge: found.flatMap(({ tooLarge }) => tooLarge) };
}

const MOST_LEVELS = 9;
const MOST_NAMES = 10_000;

function markdownBelow(top: string, files: ProjectReader): DefinitionFiles {
  const seen: string[] = [];
  let entries = [top];
  for (let level = 0; level <= MOST_LEVELS && entries.length > 0 && seen.length <= MOST_NAMES; level++) {
    entries = entries.flatMap((entry) => files.list(entry).map((name) => join(entry, name)));
    seen.push(...entries);
  }
  const paths = seen.filter((path) => path.endsWith(".md"));
  return { paths, tooLarge: entries.length > 0 ? [top] : [] };
}

/** Why a call is denied beside this definition. Its settings begin at a first line `---` and end before the next line that is exactly `---`. */
export function findFrontMatterHooks(text: string): string | undefined {
  const [, settings = ""] = /^\ufeff?---([^\n]*\n?[\s\S]*?)(?:\n---\r?\n|$)/.exec(text) ?? [];
  return MENTIONS_HOOKS.test(settings) ? "the hooks that it brings can change or allow a call after Assent decided" : undefined;
}

/** The names of the events, or an escape in quoted YAML, which can spell them. */
const MENTIONS_HOOKS = /PreToolUse|PermissionRequest|\\(?:[xuU]|\r?\n)/;

/** Names a plugin that the project enables, or whose marketplace it sets, unless the user enables it from the same marketplace. */
export function findForeignPlugin(config: JsonObject, { claudeConfig }: ProjectPlace, { read }: ProjectReader): string | undefined {
  const own = readOwn(read(join(claudeConfig, "settings.json")) ?? "");
  const theirs = objectIn(config, "enabledPlugins");
  const ours = objectIn(own, "enabledPlugins");
  const foreign = Object.entries({ ...ours, ...theirs }).find(([name, value]) => {
    const marketplace = name.slice(name.lastIndexOf("@") + 1);
    const [source, ownSource] = [config, own].map((settings) => objectIn(settings, "extraKnownMarketplaces")[marketplace]);
    const isOther = source !== undefined && !isDeepStrictEqual(source, ownSource);
    return value !== false && (isOther || (name in theirs && ours[name] !== true));
  });
  if (foreign === undefined) return undefined;
  return `it enables the plugin ${foreign[0]}, or changes where it comes from. Hooks of the plugin can change or allow a call after Assent decided. If you trust the plugin, enable it in your own settings, too`;
}

function readOwn(text: string): JsonObject {
  try {
    return readConfig(text);
  } catch {
    return {}; // settings that cannot be read enable nothing
  }
}

function objectIn(from: JsonObject, name: string): JsonObject {
  const value = from[name];
  return isObject(value) ? (value as JsonObject) : {};
}

/** Hooks at these events write a file that Claude Code loads into the shell of each command. */
const WRITE_ENVIRONMENT = ["SessionStart", "Setup", "CwdChanged", "FileChanged"];
const PLAIN_LINE = /^\s*(?:#.*|export ([A-Za-z_]\w*)=(?:'[^']*'|"[^"$`\\]*"|[\w@%+=:,./-]*))?\s*$/;
const CHANGES_PROGRAMS = ["PATH", ...SHELL_VARIABLES, ...PROGRAM_VARIABLES].map((glob) => compileGlob(glob));

/** Finds a line that hooks of the project added to the shell of this session's commands, unless it only sets a harmless variable. */
export function findShellChange(
  config: JsonObject,
  { claudeConfig, call }: ProjectPlace,
  { read, list }: ProjectReader,
): string | undefined {
  if (call?.tool !== "Bash" || !WRITE_ENVIRONMENT.some((event) => hookGroups(config, event).length > 0)) return undefined;
  const folder = join(claudeConfig, "session-env", call.session);
  const lines = list(folder).flatMap((name) => (read(join(folder, name)) ?? "").split("\n"));
  const line = lines.find((one) => {
    const [matched, name = ""] = PLAIN_LINE.exec(one) ?? [];
    return matched === undefined || CHANGES_PROGRAMS.some((glob) => glob.matches(name));
  });
  if (line === undefined) return undefined;
  return `its hooks changed the shell of Claude Code's commands (${JSON.stringify(line.slice(0, 80))}), so commands are not what they look like`;
}

/** Tools that have only one name in Claude Code. A matcher that only lists names is compared with the whole name (measured). */
const ONE_NAME = new Set(["Bash", "Edit", "MultiEdit", "Write", "NotebookEdit", "Read", "Glob", "Grep", "WebFetch", "WebSearch"]);

/** False only if Claude Code does not run the hooks of this group for the call. */
export function mayMatchCall(group: Json, call: GuardedCall | undefined): boolean {
  const matcher = isObject(group) ? group["matcher"] : undefined;
  if (call === undefined || !ONE_NAME.has(call.tool) || typeof matcher !== "string" || !/^[A-Za-z|]+$/.test(matcher)) return true;
  return matcher.split("|").some((name) => name === "" || call.tool.toLowerCase().includes(name.toLowerCase()));
}

/** Claude Code does not wait for such a hook and ignores its answer. */
export function isAsync(hook: Json): boolean {
  return isObject(hook) && hook["type"] === "command" && hook["async"] === true && hook["asyncRewake"] === undefined;
}
