import { resolve } from "node:path";
import { type JsonObject, MODES, type Mode } from "@assent/core";
import type { SessionFlags } from "@assent/policy";
import type { Context } from "../command-line/spec.ts";
import { usageError } from "../io/failure.ts";
import { isDirectory } from "./place.ts";

/** What to do with a call that needs approval if no one can be asked. */
export type OnAsk = "deny" | "park" | "fail";

/** Sessions record these flags for resuming. Paths are absolute. */
export type CallFlags = {
  readonly mode: Mode | undefined;
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
  readonly additionalDirectories: readonly string[];
  readonly policyFile: string | undefined;
  readonly tools: readonly string[];
  /** Files with MCP servers, or their JSON. */
  readonly mcpConfig: readonly string[];
  /** No other servers are used. */
  readonly strictMcpConfig: boolean;
};

export function readFlags({ options, io }: Pick<Context, "options" | "io">): CallFlags {
  const policy = options.text("policy");
  return refuseRulesBesidePolicy({
    mode: modeNamed(options.text("mode")),
    allow: options.list("allow"),
    ask: options.list("ask"),
    deny: options.list("deny"),
    additionalDirectories: options.list("add-dir").map((directory) => existingDirectory(resolve(io.cwd, directory))),
    policyFile: policy === undefined ? undefined : resolve(io.cwd, policy),
    tools: options.list("tool").map((file) => resolve(io.cwd, file)),
    mcpConfig: options.list("mcp-config").map((given) => (given.trimStart().startsWith("{") ? given : resolve(io.cwd, given))),
    strictMcpConfig: options.flag("strict-mcp-config"),
  });
}

/** A missing directory would extend the workspace once it is created. */
function existingDirectory(directory: string): string {
  if (isDirectory(directory)) return directory;
  throw usageError("", `option '--add-dir' must be a directory, but '${directory}' is not.`);
}

/** Rule options would have no effect next to a policy file. */
function refuseRulesBesidePolicy(flags: CallFlags): CallFlags {
  const rule = (["deny", "ask", "allow"] as const).find((name) => flags[name].length > 0);
  if (flags.policyFile === undefined || rule === undefined) return flags;
  throw usageError(
    "",
    `with --policy only the rules in its file count, so --${rule} would have no effect. Write the rule into the file, or leave out --policy.`,
  );
}

export function readOnAsk({ options }: Pick<Context, "options">): OnAsk | undefined {
  const given = options.text("on-ask");
  return given === "deny" || given === "park" || given === "fail" ? given : undefined;
}

export function flagsForRecord(flags: CallFlags, onAsk: OnAsk | undefined): JsonObject {
  const {
    mode = null,
    allow,
    ask,
    deny,
    additionalDirectories: addDir,
    policyFile: policy = null,
    tools,
    mcpConfig,
    strictMcpConfig,
  } = flags;
  return {
    ...{ command: "call", mode, allow, ask, deny, addDir, policy, tools, onAsk: onAsk ?? null },
    ...(mcpConfig.length > 0 && { mcpConfig }),
    ...(strictMcpConfig && { strictMcpConfig }),
  };
}

/** Rules and directories add up; a new mode or policy replaces the recorded one. */
export function mergeResumedFlags(kept: JsonObject | undefined, context: Pick<Context, "options" | "io">): CallFlags {
  const given = readFlags(context);
  const list = (name: string): readonly string[] => {
    const value = kept?.[name];
    return Array.isArray(value) ? value.map(String) : [];
  };
  const policy = kept?.["policy"];
  return refuseRulesBesidePolicy({
    mode: given.mode ?? modeNamed(kept?.["mode"]),
    allow: [...list("allow"), ...given.allow],
    ask: [...list("ask"), ...given.ask],
    deny: [...list("deny"), ...given.deny],
    additionalDirectories: [...list("addDir"), ...given.additionalDirectories],
    policyFile: given.policyFile ?? (typeof policy === "string" ? policy : undefined),
    tools: [...new Set([...list("tools"), ...given.tools])],
    mcpConfig: [...new Set([...given.mcpConfig, ...list("mcpConfig")])],
    strictMcpConfig: given.strictMcpConfig || kept?.["strictMcpConfig"] === true,
  });
}

export function sessionSettings({ mode, allow, ask, deny, additionalDirectories }: CallFlags): SessionFlags {
  return { allow, ask, deny, additionalDirectories, ...(mode !== undefined && { mode }) };
}

function modeNamed(name: unknown): Mode | undefined {
  return MODES.find((mode) => mode === name);
}

export const NO_OPTIONS: Context["options"] = {
  flag: () => false,
  text: () => undefined,
  list: () => [],
  count: () => undefined,
  duration: () => undefined,
};
