import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isObject, type Json, type JsonObject } from "@assent/core";
import type { AgentName } from "../agents.ts";
import { hookGroups, readConfig } from "./hook-config.ts";

/** The call of a hook that asks; without it, every call counts. */
export type GuardedCall = { readonly tool: string; readonly session: string };

/** Where a project's configuration is looked for: the directory and those above it, up to the user's own. */
export type ProjectPlace = {
  readonly directory: string;
  readonly home: string;
  /** The directory of the user's own configuration of Claude Code. */
  readonly claudeConfig: string;
  /** The path of Assent's wrapper script. */
  readonly wrapper: string;
  /** The call that a hook decides about; without it, reasons for any call count. */
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

/** Files of a project that may bring hooks for the time in which a subagent, a command or a skill runs. */
export function definitionFiles(agent: AgentName, project: string, files: ProjectReader): readonly string[] {
  return (DEFINITIONS[agent] ?? []).flatMap((name) => markdownBelow(join(project, name), files, MOST_LEVELS));
}

const MOST_LEVELS = 6;

function markdownBelow(folder: string, files: ProjectReader, levels: number): readonly string[] {
  if (levels === 0) return [];
  return files
    .list(folder)
    .map((name) => join(folder, name))
    .flatMap((path) => (path.endsWith(".md") ? [path] : markdownBelow(path, files, levels - 1)));
}

/** What is wrong with such a file. Only the lines between its first and second `---` are settings. */
export function hooksInFrontMatter(text: string): string | undefined {
  const [, settings = ""] = /^\ufeff?---([\s\S]*?)(?:\n---|$(?![\s\S]))/.exec(text) ?? [];
  return MENTIONS_HOOKS.test(settings) ? "the hooks that it brings can change or allow a call after Assent decided" : undefined;
}

/** Also an escape in a quoted word, which can spell the names. */
const MENTIONS_HOOKS = /PreToolUse|PermissionRequest|\\(?:[xuU]|\r?\n)/;

/** A project may enable the plugins that the user enables as well, from the same marketplace. */
export function strangePlugins(config: JsonObject, { claudeConfig }: ProjectPlace, { read }: ProjectReader): string | undefined {
  const own = readOwn(read(join(claudeConfig, "settings.json")) ?? "");
  const strange = Object.entries(objectIn(config, "enabledPlugins")).find(([name, value]) => {
    const marketplace = name.slice(name.lastIndexOf("@") + 1);
    const [theirs, ours] = [config, own].map((settings) => objectIn(settings, "extraKnownMarketplaces")[marketplace]);
    const sameSource = theirs === undefined || isDeepStrictEqual(theirs, ours);
    return value !== false && !(objectIn(own, "enabledPlugins")[name] === true && sameSource);
  });
  if (strange === undefined) return undefined;
  return `it enables the plugin ${strange[0]}, whose hooks can change or allow a call after Assent decided. Enable a plugin that you trust in your own settings, too`;
}

function readOwn(text: string): JsonObject {
  try {
    return readConfig(text);
  } catch {
    return {}; // then nothing of it counts
  }
}

function objectIn(from: JsonObject, name: string): JsonObject {
  const value = from[name];
  return isObject(value) ? (value as JsonObject) : {};
}

/** Hooks at these events write a file that Claude Code loads into the shell of each command. */
const WRITE_ENVIRONMENT = ["SessionStart", "Setup", "CwdChanged", "FileChanged"];
const PLAIN_LINE = /^\s*(?:#.*|export ([A-Za-z_]\w*)=(?:'[^']*'|"[^"$`\\]*"|[\w@%+=:,./-]*))?\s*$/;
const CHANGES_PROGRAMS = /^(?:PATH|CDPATH|ENV|BASH_ENV|SHELLOPTS|BASHOPTS|IFS|(?:LD|DYLD|BASH_FUNC)_.+)$/;

/** What hooks of the project left for the shell of each command in this session, unless it only sets variables. */
export function changedShell(config: JsonObject, { claudeConfig, call }: ProjectPlace, { read, list }: ProjectReader): string | undefined {
  if (call?.tool !== "Bash" || !WRITE_ENVIRONMENT.some((event) => hookGroups(config, event).length > 0)) return undefined;
  const folder = join(claudeConfig, "session-env", call.session);
  const lines = list(folder).flatMap((name) => (read(join(folder, name)) ?? "").split("\n"));
  const line = lines.find((one) => {
    const [matched, name = ""] = PLAIN_LINE.exec(one) ?? [];
    return matched === undefined || CHANGES_PROGRAMS.test(name);
  });
  if (line === undefined) return undefined;
  return `its hooks changed the shell of Claude Code's commands (${JSON.stringify(line.slice(0, 80))}), so commands are not what they look like`;
}

/** Tools without other names in Claude Code. Measured: a matcher that only lists names is compared with the whole name. */
const ONE_NAME = new Set(["Bash", "Edit", "MultiEdit", "Write", "NotebookEdit", "Read", "Glob", "Grep", "WebFetch", "WebSearch"]);

/** False if Claude Code certainly does not run the hooks of this group for the call. */
export function mayMatchCall(group: Json, call: GuardedCall | undefined): boolean {
  const matcher = isObject(group) ? group["matcher"] : undefined;
  if (call === undefined || !ONE_NAME.has(call.tool) || typeof matcher !== "string" || !/^[A-Za-z|]+$/.test(matcher)) return true;
  return matcher.split("|").some((name) => name === "" || call.tool.toLowerCase().includes(name.toLowerCase()));
}

/** Claude Code does not wait for such a hook and ignores its answer. */
export function isAsync(hook: Json): boolean {
  return isObject(hook) && hook["type"] === "command" && hook["async"] === true && hook["asyncRewake"] === undefined;
}
