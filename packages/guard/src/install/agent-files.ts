import { join } from "node:path";
import type { JsonObject } from "@assent/core";
import type { AgentName } from "../agents.ts";
import { addHooks, type HookEntries, hookedEvents, readConfig, removeHooks } from "./hook-config.ts";
import { opencodePlugin } from "./opencode-plugin.ts";
import { disabledCodexHooks, enableCodexHooks, readsCodexHooks } from "./toml-feature.ts";
import { quote } from "./wrapper.ts";

/** Where an agent keeps its configuration. */
export type AgentHome = {
  readonly home: string;
  readonly project: string;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** For all projects of a user, or for one project. */
export type InstallScope = "user" | "project";

/** How the agent calls the wrapper. */
export type HookSetup = {
  readonly wrapper: string;
  /** Options of `assent hook` before a call. */
  readonly options: readonly string[];
  readonly timeoutSeconds: number;
};

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
      return [pluginFile(join(scope === "user" ? user : join(project, ".opencode"), "plugin", "assent.js"))];
    }
    default:
      return agent satisfies never;
  }
}

/** Why a project's own configuration switches the hooks of an agent off, by file; `read` returns undefined for a missing file. */
export function switchedOff(agent: AgentName, project: string, read: (path: string) => string | undefined): readonly string[] {
  const names: Readonly<Record<AgentName, readonly string[]>> = {
    claude: [".claude/settings.json", ".claude/settings.local.json"],
    qwen: [".qwen/settings.json"],
    gemini: [".gemini/settings.json"],
    codex: [".codex/config.toml"],
    opencode: [],
  };
  return names[agent].flatMap((name) => {
    const path = join(project, name);
    const text = read(path);
    if (text === undefined) return [];
    const why = agent === "codex" ? disabledCodexHooks(text) : disabledHooks(readLeniently(text));
    return why === undefined ? [] : [`${path}: ${why}`];
  });
}

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

function command({ wrapper, options }: HookSetup, agent: AgentName, use: "decide" | "report"): string {
  return [wrapper, agent, use, ...(use === "decide" ? options : [])].map(quote).join(" ");
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

const claudeEntries = (setup: HookSetup): HookEntries => claudeForm(setup, "claude", REPORTS);
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
    install: (_text, { wrapper, options }) => opencodePlugin(wrapper, options),
    uninstall: () => undefined,
    problem: (text) => (text.includes("assent-hook") ? undefined : "the plugin of Assent is missing"),
  };
}
