import { isObject, type Json, type JsonObject } from "@assent/core";
import { findNodeAtLocation, getNodeValue, type Node, parseTree } from "jsonc-parser";
import type { AgentName } from "../agents.ts";
import { readConfig, refuseDuplicates } from "../install/hook-config.ts";
import type { ClientCommand, ClientServer } from "./client-server.ts";

/** The servers of a client that keeps them as JSON. */
export function jsonServers(agent: Exclude<AgentName, "codex">, text: string): readonly ClientServer[] {
  const config = readConfig(text);
  const root = text.trim() === "" ? undefined : parseTree(text, [], { allowTrailingComma: true });
  if (!root) return [];
  return serverMaps(agent, config).flatMap(({ path, group }) => {
    for (const [at, key] of path.entries()) refuseDuplicates(findNodeAtLocation(root, path.slice(0, at)), key);
    const map = findNodeAtLocation(root, [...path]);
    const members = map?.type === "object" ? (map.children ?? []) : [];
    return members.flatMap((member): ClientServer[] => {
      const [key, node] = member.children ?? [];
      return key && node ? [readServer(agent, text, { name: String(key.value), group, node })] : [];
    });
  });
}

/** Where servers are. Claude Code also keeps those of single projects in the user's file. */
function serverMaps(agent: AgentName, config: JsonObject): readonly { readonly path: readonly string[]; readonly group: string }[] {
  if (agent === "opencode") {
    const { mcp } = config;
    const isNested = isObject(mcp) && isObject(mcp["servers"]) && !("type" in mcp["servers"]);
    return [{ path: isNested ? ["mcp", "servers"] : ["mcp"], group: "" }];
  }
  const projects = agent === "claude" && isObject(config["projects"]) ? Object.keys(config["projects"]) : [];
  return [
    { path: ["mcpServers"], group: "" },
    ...projects.map((project) => ({ path: ["projects", project, "mcpServers"], group: project })),
  ];
}

type PlacedServer = { readonly name: string; readonly group: string; readonly node: Node };

function readServer(agent: AgentName, text: string, { name, group, node }: PlacedServer): ClientServer {
  const value: unknown = getNodeValue(node);
  const entry = isObject(value) ? (value as JsonObject) : {};
  const target = agent === "opencode" ? readOpencode(entry) : readClaudeForm(agent, entry);
  const indent = /[ \t]*$/.exec(text.slice(0, lineOf(text, node)))?.[0] ?? "";
  return {
    ...{ name, group, target, start: node.offset, end: node.offset + node.length },
    withCommand: (command) => {
      const written = agent === "opencode" ? writeOpencode(entry, command) : writeClaudeForm(agent, entry, command);
      return JSON.stringify(written, null, 2).replaceAll("\n", `\n${indent}`);
    },
  };
}

/** Where the first word of the node's line is. */
function lineOf(text: string, { offset }: Node): number {
  const start = text.lastIndexOf("\n", offset) + 1;
  return start + (/^[ \t]*/.exec(text.slice(start))?.[0].length ?? 0);
}

const CANNOT = (reason: string): ClientServer["target"] => ({ type: "unknown", reason });
const NOT_READ = CANNOT("it has neither a program nor an address that Assent understands");

function texts(value: Json | undefined): readonly string[] | undefined {
  if (value === undefined) return [];
  return Array.isArray(value) && value.every((one) => typeof one === "string") ? value : undefined;
}

function record(value: Json | undefined, convert = (text: string): string => text): Readonly<Record<string, string>> | undefined {
  if (value === undefined) return {};
  if (!isObject(value) || Object.values(value).some((one) => typeof one !== "string")) return undefined;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, convert(String(one))]));
}

/** Claude Code, Gemini CLI and Qwen Code. */
function readClaudeForm(agent: AgentName, entry: JsonObject): ClientServer["target"] {
  const { command, url, httpUrl, type, headers, headersHelper, tcp } = entry;
  if (headersHelper !== undefined) return CANNOT("its headers come from a program (headersHelper); write them as headers with variables");
  if (tcp !== undefined) return CANNOT("Assent does not connect to WebSockets (tcp)");
  if (typeof command === "string") {
    const [args, env] = [texts(entry["args"]), record(entry["env"])];
    return args && env ? { type: "program", command, args, env } : NOT_READ;
  }
  const convert = agent === "claude" ? undefined : (text: string): string => text.replaceAll(/\$(\w+)/g, "$${$1}");
  const address = typeof httpUrl === "string" ? httpUrl : url;
  const sent = record(headers, convert);
  if (typeof address !== "string" || !sent || (type !== undefined && type !== "http" && type !== "sse" && type !== "streamable-http"))
    return NOT_READ;
  const isOld = type === "sse" || (agent !== "claude" && type === undefined && httpUrl === undefined);
  return { type: isOld ? "sse" : "http", url: convert?.(address) ?? address, headers: sent };
}

function writeClaudeForm(agent: AgentName, entry: JsonObject, { command, args, variables = [] }: ClientCommand): JsonObject {
  const { url, httpUrl, headers, oauth, type, ...kept } = entry;
  const isAddress = entry["command"] === undefined;
  const passed = Object.fromEntries(variables.map((name) => [name, agent === "claude" ? `\${${name}}` : `$${name}`]));
  const isTyped = isAddress ? agent === "claude" : type !== undefined;
  return {
    ...(isTyped && { type: "stdio" }),
    ...(isAddress ? {} : { ...(url !== undefined && { url }), ...(headers !== undefined && { headers }) }),
    ...kept,
    ...{ command, args },
    ...(variables.length > 0 && { env: { ...(isObject(entry["env"]) && (entry["env"] as JsonObject)), ...passed } }),
  };
}

function readOpencode(entry: JsonObject): ClientServer["target"] {
  const { type, command, url } = entry;
  const convert = (text: string): string => text.replaceAll(/\{env:(\w+)\}/g, "$${$1}");
  if (type === "local") {
    const [program, ...args] = texts(command) ?? [];
    const env = record(entry["environment"]);
    return program !== undefined && env ? { type: "program", command: program, args, env } : NOT_READ;
  }
  const headers = record(entry["headers"], convert);
  if (type !== "remote" || typeof url !== "string" || !headers)
    return Object.keys(entry).some((key) => key !== "enabled") ? NOT_READ : CANNOT("it only switches on a server of another file");
  if ([url, ...Object.values(headers)].some((text) => text.includes("{file:")))
    return CANNOT("it takes texts from a file ({file:…}); use variables instead");
  return { type: "http", url: convert(url), headers };
}

function writeOpencode(entry: JsonObject, { command, args, variables = [] }: ClientCommand): JsonObject {
  const { url, headers, oauth, ...kept } = entry;
  const passed = Object.fromEntries(variables.map((name) => [name, `{env:${name}}`]));
  return { ...kept, type: "local", command: [command, ...args], ...(variables.length > 0 && { environment: passed }) };
}
