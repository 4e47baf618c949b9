import { join } from "node:path";
import { isObject, type Json, type JsonObject } from "@assent/core";
import type { AgentName } from "../agents.ts";
import { scanToml } from "../mcp-install/toml.ts";
import { hookGroups, readConfig } from "./hook-config.ts";
import type { ProjectPlace, ProjectReader } from "./project-hooks.ts";
import { directoriesAbove } from "./switched-off.ts";

const FILES: Readonly<Record<AgentName, readonly string[]>> = {
  claude: [".mcp.json", ".claude/settings.json", ".claude/settings.local.json"],
  codex: [".codex/config.toml"],
  gemini: [".gemini/settings.json"],
  qwen: [".qwen/settings.json"],
  opencode: ["opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"],
};

/** Says, by file, which programs of a project an agent starts outside its calls, so that it asks no hook about them. */
export function startedCode(agent: AgentName, { directory, home }: ProjectPlace, { read }: ProjectReader): readonly string[] {
  const paths = directoriesAbove(directory, home).flatMap((project) => FILES[agent].map((name) => join(project, name)));
  return paths.flatMap((path) => findPrograms(path, read(path) ?? "").map((program) => `${path}: ${program}`));
}

function findPrograms(path: string, text: string): readonly string[] {
  try {
    return path.endsWith(".toml") ? serversOfCodex(text) : programsIn(readConfig(text.replace(/^\ufeff/, "")));
  } catch {
    return []; // the agent cannot read it either, or it is named as a problem
  }
}

function serversOfCodex(text: string): readonly string[] {
  const names = scanToml(text).flatMap(({ path: [table, name] }) => (table === "mcp_servers" && name !== undefined ? [name] : []));
  return [...new Set(names)].map(describeServer);
}

function programsIn(config: JsonObject): readonly string[] {
  const { mcpServers, mcp, tools } = config;
  const servers = [mcpServers, mcp].flatMap((all) => (isObject(all) ? Object.entries(all) : []));
  const commands = ["discoveryCommand", "callCommand"].filter((name) => isObject(tools) && tools[name] !== undefined);
  return [
    ...servers.filter(([, server]) => isStarted(server)).map(([name]) => describeServer(name)),
    ...commands.map((name) => `the command tools.${name}`),
    ...["SessionStart", "Setup"].filter((event) => hookGroups(config, event).length > 0).map((event) => `the hooks of ${event}`),
  ];
}

/** A server with a URL runs elsewhere. */
function isStarted(server: Json): boolean {
  return isObject(server) && server["command"] !== undefined && server["enabled"] !== false;
}

function describeServer(name: string): string {
  return `the MCP server ${JSON.stringify(name)}`;
}
