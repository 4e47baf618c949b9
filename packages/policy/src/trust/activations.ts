import { isObject } from "@assent/core";
import { getNodeValue, parseTree } from "jsonc-parser";
import { readSettings, type WrittenSettings } from "../settings/read-settings.ts";
import { SETTINGS } from "../settings/settings.ts";
import type { ConfigurationFile, ProjectConfiguration } from "./project-configuration.ts";

/** One line for everything that trust would activate. */
export function listActivations({ files }: Pick<ProjectConfiguration, "files">): readonly string[] {
  return files.flatMap(describeFile);
}

function describeFile(file: ConfigurationFile): readonly string[] {
  const { name, bytes } = file;
  if (name === ".assent/settings.json") return describeSettings(file);
  if (name === ".mcp.json") return describeServers(file);
  if (name.startsWith(".assent/tools/")) return [`tool ${name}`];
  if (name.startsWith(".assent/agents/")) return [`agent ${name}`];
  if (name.startsWith(".assent/")) return [`file ${name}`];
  return [`instructions ${name} (${bytes.length} bytes)`];
}

function describeSettings({ name, bytes }: ConfigurationFile): readonly string[] {
  const written = readSettings(name, Buffer.from(bytes).toString("utf8"));
  const broken = written.problems.filter(({ effect }) => effect === "refuse");
  return [
    ...broken.map(({ line, column, message }) => `broken settings: ${name}:${line}:${column}: ${message}`),
    ...written.rules.filter(({ list }) => SETTINGS[list].untrusted === "no").map(({ rule }) => `allow ${rule}`),
    ...describeHooks(written),
    ...[...written.values]
      .filter(([key]) => SETTINGS[key].untrusted !== "yes")
      .map(([key, { value }]) => `setting ${key} = ${JSON.stringify(value)}`),
  ];
}

/** Shows every hook, valid or not. */
function describeHooks({ hooks }: WrittenSettings): readonly string[] {
  return Object.entries(hooks?.value.value ?? {}).flatMap(([event, groups]) => {
    const found = asList(groups).flatMap((group) => (isObject(group) ? asList(group["hooks"]) : []));
    const lines = found.map((hook) => `hook ${event}: ${describeCommand(hook)}`);
    return lines.length > 0 ? lines : [`hook ${event}: ${JSON.stringify(groups)}`];
  });
}

function describeServers({ name, bytes }: ConfigurationFile): readonly string[] {
  const tree = parseTree(Buffer.from(bytes).toString("utf8"));
  const value: unknown = tree && getNodeValue(tree);
  const servers = isObject(value) ? (value["mcpServers"] ?? value["servers"]) : undefined;
  if (!isObject(servers)) return [`servers of ${name}`];
  return Object.entries(servers).map(([server, one]) => `server ${server}: ${describeCommand(one)}`);
}

function describeCommand(value: unknown): string {
  if (!isObject(value)) return JSON.stringify(value);
  const { command, args, url, function: called, env } = value;
  const started = [command ?? url ?? called, ...asList(args)].filter((word) => word !== undefined).map(formatWord);
  const variables = isObject(env) ? Object.entries(env).map(([name, text]) => `${name}=${formatWord(text)}`) : [];
  if (started.length === 0) return JSON.stringify(value);
  return `${started.join(" ")}${variables.length > 0 ? ` (with ${variables.join(" ")})` : ""}`;
}

function formatWord(word: unknown): string {
  return typeof word === "string" ? word : JSON.stringify(word);
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
