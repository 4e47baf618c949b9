import { dirname, join } from "node:path";
import { isObject, type Json, type JsonObject } from "@assent/core";
import { quoteWord } from "@assent/core/parts";
import type { AgentName } from "../agents.ts";
import { hookGroups, readConfig } from "./hook-config.ts";
import { isOwnPlugin, PLUGIN_NAME } from "./opencode-plugin.ts";
import {
  findForeignPlugin,
  findFrontMatterHooks,
  findShellChange,
  isAsync,
  listDefinitionFiles,
  mayMatchCall,
  type ProjectPlace,
  type ProjectReader,
} from "./project-hooks.ts";
import { disabledCodexHooks } from "./toml-feature.ts";

/**
 * Says, by file, why an agent is not guarded in a project. Its configuration may switch the hooks off, change how they run, or bring code that
 * can change a call after Assent decided.
 */
export function switchedOff(agent: AgentName, place: ProjectPlace, files: ProjectReader): readonly string[] {
  return directoriesAbove(place.directory, place.home).flatMap((project) => {
    const named = PROJECT_FILES[agent].map((name) => join(project, name));
    const code = agent === "opencode" ? codeFiles(project, files) : [];
    const { paths, tooLarge } = listDefinitionFiles(agent, project, files);
    const reasons = [...named, ...code, ...paths].flatMap((path) => {
      const text = files.read(path);
      const why = text === undefined || text.trim() === "" ? undefined : reasonIn(agent, place, { path, text }, files);
      return why === undefined ? [] : [`${path}: ${why}`];
    });
    return [...reasons, ...tooLarge.map((folder) => `${folder}: ${TOO_LARGE}`)];
  });
}

const TOO_LARGE =
  "it has more files or levels than Assent looks through, and each file could bring hooks. Remove links to folders above, and files that are not definitions";

const PROJECT_FILES: Readonly<Record<AgentName, readonly string[]>> = {
  claude: [".claude/settings.json", ".claude/settings.local.json"],
  qwen: [".qwen/settings.json", ".qwen/.env", ".env"],
  gemini: [".gemini/settings.json", ".gemini/.env", ".env"],
  codex: [".codex/config.toml"],
  opencode: ["opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"],
};

/** The agent may have been started in any of them. The configuration in the home directory is the user's. */
export function directoriesAbove(directory: string, home: string): readonly string[] {
  if (directory === home) return [];
  const parent = dirname(directory);
  return [directory, ...(parent === directory ? [] : directoriesAbove(parent, home))];
}

/** Files that opencode loads into its own process. */
function codeFiles(project: string, { list }: ProjectReader): readonly string[] {
  return ["plugin", "plugins", "tool", "tools"].flatMap((name) => {
    const folder = join(project, ".opencode", name);
    const code = list(folder).filter((file) => /\.[cm]?[jt]s$/.test(file));
    return code.map((file) => join(folder, file));
  });
}

type ProjectFile = { readonly path: string; readonly text: string };

function reasonIn(agent: AgentName, place: ProjectPlace, { path, text }: ProjectFile, files: ProjectReader): string | undefined {
  const { wrapper } = place;
  if (path.endsWith(".md")) return findFrontMatterHooks(text);
  if (agent === "codex") return disabledCodexHooks(text); // a person has to trust each hook of a project
  if (path.endsWith("/.env")) return changedEnvironment(variablesOf(text), LOADED_FROM_FILE);
  if (/\.[cm]?[jt]s$/.test(path)) return path.endsWith(`/plugin/${PLUGIN_NAME}`) && isOwnPlugin(text, wrapper) ? undefined : CODE;
  const config = readIfValid(text);
  if (config === undefined) return "it is not valid JSON, so Assent cannot tell whether it switches the hooks off";
  if (agent === "opencode") return config["plugin"] !== undefined ? PLUGINS : config["shell"] !== undefined ? SHELL : undefined;
  return (
    disabledHooks(config) ??
    changedEnvironment(config["env"], CHANGES_HOOKS) ??
    DECIDING_EVENTS[agent].flatMap((event) => otherHooks(agent, config, event, place) ?? [])[0] ??
    (agent === "claude" ? (findForeignPlugin(config, place, files) ?? findShellChange(config, place, files)) : undefined)
  );
}

const CODE = "this code of the project runs inside opencode and can go around the guard";
const PLUGINS = "its plugins run inside opencode and can go around the guard";
const SHELL = "it replaces the shell that runs allowed commands";

/**
 * Variables of a `.env` file that switch hooks off, name other settings, or load code into the shell around the wrapper. The wrapper sets
 * or removes those of Node, and such a file does not change variables that are set.
 */
const LOADED_FROM_FILE = new RegExp(
  [
    "^(?:QWEN_CODE_(?:SAFE_MODE|SIMPLE|SYSTEM_(?:SETTINGS|DEFAULTS)_PATH)|QWEN_HOME|GEMINI_CLI_(?:HOME|SYSTEM_(?:SETTINGS|DEFAULTS)_PATH)",
    "(?:LD|DYLD|ASSENT|BASH_FUNC|OPENSSL)_.+|BASH_ENV|SHELLOPTS)$",
  ].join("|"),
);

/** Variables that load code into the hook's programs, choose other settings, another record or another shell, or switch hooks off. */
const CHANGES_HOOKS = new RegExp(
  [
    "^(?:NODE_(?:OPTIONS|PATH|COMPILE_CACHE)|OPENSSL_.+|XDG_(?:CONFIG|STATE)_HOME|(?:LD|DYLD|ASSENT|BASH_FUNC)_.+|HOME|ENV|BASH_ENV|SHELLOPTS|IFS",
    "SHELL|CLAUDE_(?:CONFIG_DIR|ENV_FILE|CODE_(?:SHELL|SHELL_PREFIX|SIMPLE|SAFE_MODE|PERSONAL_HOOKS_OFF))",
    "QWEN_CODE_(?:SAFE_MODE|SIMPLE))$",
  ].join("|"),
);

function changedEnvironment(env: Json | undefined, wanted: RegExp): string | undefined {
  const name = isObject(env) ? Object.keys(env).find((one) => wanted.test(one)) : undefined;
  return name === undefined ? undefined : `it sets ${name}, which can switch off or replace the guard`;
}

/** The variables of a `.env` file. */
function variablesOf(text: string): JsonObject {
  const names = [...text.matchAll(/^\s*(?:export\s+)?([\w.-]+)\s*[=:]/gm)].map(([, name = ""]) => name);
  return Object.fromEntries(names.map((name) => [name, ""]));
}

/** Hooks at these events see a call together with Assent and may rewrite or allow it, or answer the agent's dialog instead of a person. */
const DECIDING_EVENTS: Readonly<Record<AgentName, readonly string[]>> = {
  ...{ claude: ["PreToolUse", "PermissionRequest"], qwen: ["PreToolUse", "PermissionRequest"], gemini: ["BeforeTool"] },
  ...{ codex: [], opencode: [] },
};

function otherHooks(agent: AgentName, config: JsonObject, event: string, { wrapper, call }: ProjectPlace): string | undefined {
  const narrows = agent === "claude" && event === "PreToolUse";
  const groups = hookGroups(config, event).filter((group) => !narrows || mayMatchCall(group, call));
  const entries = groups.flatMap((group) => (isObject(group) && Array.isArray(group["hooks"]) ? group["hooks"] : [group]));
  if (entries.every((entry) => isOwnHook(entry, wrapper) || (narrows && isAsync(entry)))) return undefined;
  return `its own ${event} hooks can change or allow a call after Assent decided. ${WHERE_TO}`;
}

const WHERE_TO =
  "Move hooks that only check calls to .assent/settings.json and run 'assent trust': Assent then runs them itself. Move hooks that you trust to your own settings";

/** A comment in another hook's command must not make it one of ours. */
function isOwnHook(entry: Json, wrapper: string): boolean {
  const command = isObject(entry) && entry["type"] === "command" ? entry["command"] : undefined;
  if (typeof command !== "string") return false;
  const rest = command.startsWith(`${quoteWord(wrapper)} `) ? command.slice(quoteWord(wrapper).length) : undefined;
  return command === wrapper || (rest !== undefined && /^[\w%+=:,./@' -]+(?:\|\| exit 2)?$/.test(rest));
}

/** The settings with which agents switch all hooks off. */
export function disabledHooks({ disableAllHooks, hooksConfig, hooks }: JsonObject): string | undefined {
  if (disableAllHooks === true) return "it switches all hooks off (disableAllHooks)";
  const config = hooksConfig as JsonObject | undefined;
  if (config?.["enabled"] === false) return "it switches all hooks off (hooksConfig.enabled)";
  const disabled = [config?.["disabled"], (hooks as JsonObject | undefined)?.["disabled"]].flat();
  return disabled.includes(GEMINI_NAME) ? "it switches the hook of Assent off (disabled)" : undefined;
}

export const GEMINI_NAME = "assent";

function readIfValid(text: string): JsonObject | undefined {
  try {
    return readConfig(text.replace(/^\ufeff/, ""));
  } catch {
    return undefined;
  }
}
