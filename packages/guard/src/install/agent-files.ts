import { dirname, join } from "node:path";
import { isObject, type JsonObject } from "@assent/core";
import type { AgentName } from "../agents.ts";
import { addHooks, type HookEntries, hookedEvents, readConfig, removeHooks } from "./hook-config.ts";
import { opencodePlugin } from "./opencode-plugin.ts";
import { disabledCodexHooks, enableCodexHooks, readsCodexHooks } from "./toml-feature.ts";
import { type HookSetup, quote, wrapperArguments } from "./wrapper.ts";

/** Where an agent keeps its configuration. */
export type AgentHome = {
  readonly home: string;
  readonly project: string;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** For all projects of a user, or for one project. */
export type InstallScope = "user" | "project";

/** One file of an agent that install and uninstall change. Both return the new text; undefined removes the file. */
export type AgentFile = {
  readonly path: string;
  readonly install: (text: string, setup: HookSetup) => string;
  readonly uninstall: (text: string) => string | undefined;
  /** What is missing for calls to be guarded, or what switches the hooks off; undefined if nothing. */
  readonly problem: (text: string) => string | undefined;
};

/** The files to change, per agent and scope. */
export function agentFiles(agent: AgentName, scope: InstallScope, at: AgentHome): readonly AgentFile[] {
  const { home, project, env } = at;
  switch (agent) {
    case "claude": {
      const folder = scope === "user" ? (env["CLAUDE_CONFIG_DIR"] ?? join(home, ".claude")) : join(project, ".claude");
      return [settingsFile(join(folder, "settings.json"), claudeEntries, "PreToolUse")];
    }
    case "qwen": {
      const folder = join(scope === "user" ? home : project, ".qwen");
      return [settingsFile(join(folder, "settings.json"), qwenEntries, "PreToolUse")];
    }
    case "gemini": {
      const folder = join(scope === "user" ? home : project, ".gemini");
      return [settingsFile(join(folder, "settings.json"), geminiEntries, "BeforeTool")];
    }
    case "codex": {
      const folder = scope === "user" ? (env["CODEX_HOME"] ?? join(home, ".codex")) : join(project, ".codex");
      return [settingsFile(join(folder, "hooks.json"), codexEntries, "PreToolUse"), codexConfig(join(folder, "config.toml"))];
    }
    case "opencode": {
      const user = join(env["XDG_CONFIG_HOME"] ?? join(home, ".config"), "opencode");
      return [pluginFile(join(scope === "user" ? user : join(project, ".opencode"), "plugin", PLUGIN_NAME))];
    }
    default:
      return agent satisfies never;
  }
}

/** Where a project's configuration is looked for: the directory and those above it, up to the user's own. */
export type ProjectPlace = { readonly directory: string; readonly home: string };

/**
 * Why the configuration of a project switches the hooks of an agent off or changes how they run, by file. `read` returns undefined for a
 * missing file.
 */
export function switchedOff(
  agent: AgentName,
  { directory, home }: ProjectPlace,
  read: (path: string) => string | undefined,
): readonly string[] {
  const names: Readonly<Record<AgentName, readonly string[]>> = {
    claude: [".claude/settings.json", ".claude/settings.local.json"],
    qwen: [".qwen/settings.json"],
    gemini: [".gemini/settings.json"],
    codex: [".codex/config.toml"],
    opencode: [],
  };
  return directoriesAbove(directory, home).flatMap((project) =>
    names[agent].flatMap((name) => {
      const path = join(project, name);
      const text = read(path);
      if (text === undefined) return [];
      const config = agent === "codex" ? {} : readLeniently(text);
      const why = agent === "codex" ? disabledCodexHooks(text) : (disabledHooks(config) ?? changedEnvironment(config));
      return why === undefined ? [] : [`${path}: ${why}`];
    }),
  );
}

/** The agent may have been started in any of them. The configuration in the home directory is the user's. */
function directoriesAbove(directory: string, home: string): readonly string[] {
  if (directory === home) return [];
  const parent = dirname(directory);
  return [directory, ...(parent === directory ? [] : directoriesAbove(parent, home))];
}

/** Variables that load code into the hook's programs, or choose other settings or another record. */
const CHANGES_HOOKS =
  /^(?:NODE_(?:OPTIONS|PATH|COMPILE_CACHE)|XDG_(?:CONFIG|STATE)_HOME|(?:LD|DYLD|ASSENT|BASH_FUNC)_.+|HOME|ENV|BASH_ENV|SHELLOPTS|IFS)$/;

function changedEnvironment({ env }: JsonObject): string | undefined {
  const name = isObject(env) ? Object.keys(env).find((one) => CHANGES_HOOKS.test(one)) : undefined;
  return name === undefined ? undefined : `it sets ${name} for hooks, which can replace the guard`;
}

/** Files of a project that run inside an agent and can go around its hooks. `list` returns the names in a directory. */
export function projectPlugins(
  agent: AgentName,
  { directory, home }: ProjectPlace,
  list: (path: string) => readonly string[],
): readonly string[] {
  if (agent !== "opencode") return [];
  const folders = directoriesAbove(directory, home).flatMap((project) =>
    ["plugin", "plugins"].map((name) => join(project, ".opencode", name)),
  );
  return folders.flatMap((folder) =>
    list(folder)
      .filter((name) => /\.[cm]?[jt]s$/.test(name) && name !== PLUGIN_NAME)
      .map((name) => `${join(folder, name)}: this plugin of the project runs inside opencode and can go around the guard`),
  );
}

const PLUGIN_NAME = "assent.js";

/** A file that cannot be read switches nothing off in an agent that cannot read it either. */
function readLeniently(text: string): JsonObject {
  try {
    return readConfig(text);
  } catch {
    return {};
  }
}

function settingsFile(path: string, entries: (setup: HookSetup) => HookEntries, before: string): AgentFile {
  return {
    path,
    install: (text, setup) => addHooks(text, entries(setup)),
    uninstall: (text) => (text.trim() === "" ? text : removeHooks(text)),
    problem: (text) => {
      const off = disabledHooks(readConfig(text));
      if (off !== undefined) return off;
      return hookedEvents(text).includes(before) ? undefined : "it has no hook of Assent";
    },
  };
}

/** The settings with which agents switch all hooks off. */
function disabledHooks({ disableAllHooks, hooksConfig, hooks }: JsonObject): string | undefined {
  if (disableAllHooks === true) return "it switches all hooks off (disableAllHooks)";
  const config = hooksConfig as JsonObject | undefined;
  if (config?.["enabled"] === false) return "it switches all hooks off (hooksConfig.enabled)";
  const disabled = [config?.["disabled"], (hooks as JsonObject | undefined)?.["disabled"]].flat();
  return disabled.includes(GEMINI_NAME) ? "it switches the hook of Assent off (disabled)" : undefined;
}

const GEMINI_NAME = "assent";

/** The agent gives it to a shell. A wrapper that is missing or killed denies, too. */
function command(setup: HookSetup, agent: AgentName, use: "decide" | "report"): string {
  const words = [setup.wrapper, ...wrapperArguments(setup, agent, use)].map(quote).join(" ");
  return use === "decide" ? `${words} || exit 2` : words;
}

const REPORTS = ["PostToolUse", "PostToolUseFailure", "PermissionDenied"];

function claudeForm(setup: HookSetup, agent: AgentName, reports: readonly string[]): HookEntries {
  const entry = (use: "decide" | "report", timeout: number): JsonObject => ({
    matcher: "*",
    hooks: [{ type: "command", command: command(setup, agent, use), timeout }],
  });
  const { matcher: _all, ...ending } = entry("report", REPORT_SECONDS);
  return {
    PreToolUse: entry("decide", setup.timeoutSeconds),
    ...Object.fromEntries(reports.map((event) => [event, entry("report", REPORT_SECONDS)])),
    SessionEnd: ending,
  };
}

const REPORT_SECONDS = 30;

function claudeEntries(setup: HookSetup): HookEntries {
  const { PreToolUse, SessionEnd, ...others } = claudeForm(setup, "claude", REPORTS);
  const dialog = setup.besideDialog ? { PermissionRequest: PreToolUse, Stop: SessionEnd } : {};
  return { PreToolUse, ...dialog, ...others, SessionEnd } as HookEntries;
}
const qwenEntries = (setup: HookSetup): HookEntries => claudeForm(setup, "qwen", REPORTS);
const codexEntries = (setup: HookSetup): HookEntries => claudeForm(setup, "codex", ["PostToolUse"]);

/** Gemini CLI counts in milliseconds. */
function geminiEntries(setup: HookSetup): HookEntries {
  const entry = (use: "decide" | "report", timeout: number): JsonObject => ({
    matcher: "*",
    hooks: [{ type: "command", name: GEMINI_NAME, command: command(setup, "gemini", use), timeout }],
  });
  return {
    BeforeTool: entry("decide", setup.timeoutSeconds * 1_000),
    AfterTool: entry("report", REPORT_SECONDS * 1_000),
    SessionEnd: entry("report", REPORT_SECONDS * 1_000),
  };
}

function codexConfig(path: string): AgentFile {
  return {
    path,
    install: enableCodexHooks,
    uninstall: (text) => text, // other hooks may need it
    problem: (text) => (readsCodexHooks(text) ? undefined : "it does not enable hooks ([features] hooks = true)"),
  };
}

function pluginFile(path: string): AgentFile {
  return {
    path,
    install: (_text, setup) => opencodePlugin(setup),
    uninstall: () => undefined,
    problem: (text) => (text.includes("assent-hook") ? undefined : "the plugin of Assent is missing"),
  };
}
