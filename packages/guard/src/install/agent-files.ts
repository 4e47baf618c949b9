import { join } from "node:path";
import type { JsonObject } from "@assent/core";
import { quoteWord } from "@assent/core/parts";
import type { AgentName } from "../agents.ts";
import { addHooks, type HookEntries, hookedEvents, readConfig, removeHooks } from "./hook-config.ts";
import { opencodePlugin, PLUGIN_NAME } from "./opencode-plugin.ts";
import { disabledHooks, GEMINI_NAME } from "./switched-off.ts";
import { enableCodexHooks, readsCodexHooks } from "./toml-feature.ts";
import { type HookSetup, wrapperArguments } from "./wrapper.ts";

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

type HookUse = "decide" | "report";

/** The agent gives it to a shell. A wrapper that is missing or killed denies, too. */
function command(setup: HookSetup, agent: AgentName, use: HookUse): JsonObject {
  const words = [setup.wrapper, ...wrapperArguments(setup, agent, use)].map(quoteWord).join(" ");
  return { command: use === "decide" ? `${words} || exit 2` : words };
}

/** Claude Code starts it without a shell, which a project could replace, and denies the call if it fails, is killed or is late. */
function program(setup: HookSetup, use: HookUse): JsonObject {
  return { command: setup.wrapper, args: wrapperArguments(setup, "claude", use), ...(use === "decide" && { onFailure: "block" }) };
}

const REPORTS = ["PostToolUse", "PostToolUseFailure", "PermissionDenied"];

function claudeForm(setup: HookSetup, agent: AgentName, reports: readonly string[]): HookEntries {
  const entry = (use: HookUse, timeout: number): JsonObject => ({
    matcher: "*",
    hooks: [{ type: "command", ...(agent === "claude" ? program(setup, use) : command(setup, agent, use)), timeout }],
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
  const entry = (use: HookUse, timeout: number): JsonObject => ({
    matcher: "*",
    hooks: [{ type: "command", name: GEMINI_NAME, ...command(setup, "gemini", use), timeout }],
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
