import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { AgentName } from "../agents.ts";
import type { AgentHome, InstallScope } from "../install/agent-files.ts";
import type { ClientServer } from "./client-server.ts";
import { codexServers } from "./codex-servers.ts";
import { type GatewaySetup, gatewayArguments, readGatewayArguments, type ServerTarget } from "./gateway-command.ts";
import { jsonServers } from "./json-servers.ts";

/** What install did to one server; both are texts of the client's configuration. */
export type GuardedServer = { readonly name: string; readonly group: string; readonly before: string; readonly after: string };

/** A changed configuration. */
export type GuardedConfig = {
  readonly text: string;
  readonly servers: readonly GuardedServer[];
  /** Addresses behind the gateway, by group and the name that rules use. */
  readonly addresses: Readonly<Record<string, Readonly<Record<string, Exclude<ServerTarget, { readonly type: "program" }>>>>>;
  /** Servers that stay as they are. */
  readonly left: readonly { readonly name: string; readonly reason: string }[];
};

/** The file in which a client keeps its servers. `exists` chooses among several names. */
export function clientFile(agent: AgentName, scope: InstallScope, at: AgentHome, exists: (path: string) => boolean): string {
  const { home, project, env } = at;
  switch (agent) {
    case "claude":
      return scope === "project" ? join(project, ".mcp.json") : join(env["CLAUDE_CONFIG_DIR"] ?? home, ".claude.json");
    case "codex":
      return join(scope === "project" ? join(project, ".codex") : (env["CODEX_HOME"] ?? join(home, ".codex")), "config.toml");
    case "gemini":
    case "qwen":
      return join(scope === "project" ? project : home, `.${agent}`, "settings.json");
    case "opencode": {
      const user = join(env["XDG_CONFIG_HOME"] ?? join(home, ".config"), "opencode");
      const folders = scope === "user" ? [user] : [project, join(project, ".opencode")];
      const names = folders.flatMap((folder) => ["opencode.json", "opencode.jsonc"].map((name) => join(folder, name)));
      return names.find(exists) ?? names[0] ?? "";
    }
    default:
      return agent satisfies never;
  }
}

/** The servers in a configuration. Throws `AgentConfigError`. */
function clientServers(agent: AgentName, text: string): readonly ClientServer[] {
  return agent === "codex" ? codexServers(text) : jsonServers(agent, text);
}

/** Puts the gateway in front of all servers. `known` is what earlier installs did. Throws `AgentConfigError`. */
export function guardServers(agent: AgentName, text: string, setup: GatewaySetup, known: readonly GuardedServer[]): GuardedConfig {
  const servers: GuardedServer[] = [];
  const addresses: Record<string, Record<string, Exclude<ServerTarget, { readonly type: "program" }>>> = {};
  const left: { name: string; reason: string }[] = [];
  const taken = new Set<string>();
  const changed = editServers(text, clientServers(agent, text), (server, now) => {
    const { name, group, target, withCommand } = server;
    const earlier = known.find((one) => one.name === name && one.group === group);
    const behind = target.type === "program" ? readGatewayArguments(target.command, target.args, setup) : undefined;
    const original = behind === "address" ? findOriginal(agent, earlier) : behind ? { ...target, ...behind } : target;
    const ruleName = setup.ruleName(name);
    const reason = whyLeft(original, ruleName, taken.has(`${group}\n${ruleName?.toLowerCase()}`));
    if (original === undefined || original.type === "unknown" || ruleName === undefined || reason !== undefined) {
      left.push({ name, reason: reason ?? "" });
      return undefined;
    }
    taken.add(`${group}\n${ruleName.toLowerCase()}`);
    if (original.type !== "program") addresses[group] = { ...addresses[group], [ruleName]: original };
    const variables = original.type === "program" ? [] : variablesOf(original);
    const after = behind === "address" ? now : withCommand({ command: setup.wrapper, args: argumentsOf(original), variables });
    servers.push({ name, group, before: behind && earlier ? earlier.before : now, after });
    return after;
    function argumentsOf(of: ServerTarget): readonly string[] {
      // Variables that were set behind the wrapper before are already part of the program.
      return gatewayArguments(behind && of.type === "program" ? { ...of, env: {} } : of, ruleName ?? "", group, setup);
    }
  });
  return { text: changed, servers, addresses, left };
}

/** Removes the gateway again. A server that was changed since then keeps what was changed. */
export function releaseServers(
  agent: AgentName,
  text: string,
  setup: Pick<GatewaySetup, "wrapper">,
  known: readonly GuardedServer[],
): Pick<GuardedConfig, "text" | "left"> {
  const left: { name: string; reason: string }[] = [];
  const changed = editServers(text, clientServers(agent, text), ({ name, group, target, withCommand }, now) => {
    const behind = target.type === "program" ? readGatewayArguments(target.command, target.args, setup) : undefined;
    if (behind === undefined) return undefined;
    const earlier = known.find((one) => one.name === name && one.group === group);
    if (earlier && isSame(agent, now, earlier.after)) return earlier.before;
    if (behind !== "address") return withCommand(behind);
    left.push({ name, reason: "it was changed after assent mcp install; its address is in the backup" });
    return undefined;
  });
  return { text: changed, left };
}

/** `edit` returns the new text of a server; undefined leaves it. */
function editServers(
  text: string,
  servers: readonly ClientServer[],
  edit: (server: ClientServer, now: string) => string | undefined,
): string {
  const edits = servers.map((server) => ({ ...server, after: edit(server, text.slice(server.start, server.end)) }));
  return edits
    .toSorted((one, other) => other.start - one.start)
    .reduce(
      (before, { start, end, after }) => (after === undefined ? before : `${before.slice(0, start)}${after}${before.slice(end)}`),
      text,
    );
}

function findOriginal(agent: AgentName, earlier: GuardedServer | undefined): ClientServer["target"] | undefined {
  if (!earlier) return undefined;
  const [server] = clientServers(agent, wrapText(agent, earlier));
  return server?.target;
}

/** A configuration with this server alone. */
function wrapText(agent: AgentName, { name, before }: GuardedServer): string {
  if (agent === "codex") return before;
  return `{${JSON.stringify(agent === "opencode" ? "mcp" : "mcpServers")}: {${JSON.stringify(name)}: ${before}}}`;
}

function whyLeft(target: ClientServer["target"] | undefined, ruleName: string | undefined, isTaken: boolean): string | undefined {
  if (target === undefined) return "its original address is not known; write it again";
  if (target.type === "unknown") return target.reason;
  if (ruleName === undefined) return "rules cannot name it: use letters, digits, hyphens and single underscores";
  return isTaken ? `rules would call it ${ruleName} like another server; rename it` : undefined;
}

function variablesOf({ url, headers }: Exclude<ServerTarget, { readonly type: "program" }>): readonly string[] {
  const texts = [url, ...Object.values(headers)];
  return [...new Set(texts.flatMap((text) => [...text.matchAll(/\$\{(\w+)/g)].map(([, name = ""]) => name)))];
}

/** Clients write their own files again, with other spaces. */
function isSame(agent: AgentName, now: string, then: string): boolean {
  if (now === then || agent === "codex") return now === then;
  try {
    return isDeepStrictEqual(JSON.parse(now), JSON.parse(then));
  } catch {
    return false;
  }
}
