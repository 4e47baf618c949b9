import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import {
  AGENTS,
  type AgentName,
  clientFile,
  GATEWAY_NAME,
  type GatewaySetup,
  type GuardedConfig,
  type GuardedServer,
  gatewayScript,
  guardServers,
  releaseServers,
} from "@assent/guard";
import { nodeDigest } from "@assent/host";
import { isServerName, normalizeServerName } from "@assent/policy";
import type { Context } from "../command-line/spec.ts";
import { warn } from "../io/output.ts";
import { oneLine } from "../io/visible-text.ts";
import { lastingStore, stateDirectory, userHome } from "../store/location.ts";
import { agentNamed } from "./agent-name.ts";
import { changeFiles, editFile, type FileEdit, lastingEnvironment, scopeOf } from "./install.ts";
import { readText } from "./read-text.ts";

type GuardedClient = { readonly agent: AgentName; readonly path: string; readonly setup: GatewaySetup; readonly record: string };

/** `assent mcp install`: puts the gateway in front of the servers of a client, after showing the change. */
export async function installGateway(context: Context): Promise<number> {
  const client = await findClient(context);
  const { agent, path, setup, record } = client;
  let guarded: GuardedConfig | undefined;
  const edit = editFile({ path }, (text) => {
    guarded = guardServers(agent, text, setup, readRecord(record));
    return guarded.text;
  });
  const { servers = [], addresses = {}, left = [] } = guarded ?? {};
  await warnAboutServers(context, left);
  const script = gatewayScript({ node: process.execPath, program: realpathSync(process.argv[1] ?? ""), env: lastingEnvironment(context) });
  const edits = [ownFile(setup.wrapper, script, 0o700), ...recordEdits(client, servers, addresses), edit];
  const { title } = AGENTS[agent];
  const count = servers.length === 1 ? `1 MCP server of ${title} is` : `${servers.length} MCP servers of ${title} are`;
  return changeFiles(context, servers.length === 0 ? [] : edits, {
    done: [`${count} now behind Assent. Restart ${title}.`, ...loginHints(addresses, setup)].join("\n"),
    nothing: servers.length === 0 ? `${path} has no MCP servers to guard.` : "Nothing to change: all servers are behind Assent.",
  });
}

/** `assent mcp uninstall` */
export async function uninstallGateway(context: Context): Promise<number> {
  const client = await findClient(context);
  const { agent, path, setup, record } = client;
  let left: GuardedConfig["left"] = [];
  const edit = editFile({ path }, (text) => {
    const released = releaseServers(agent, text, setup, readRecord(record));
    left = released.left;
    return released.text;
  });
  await warnAboutServers(context, left);
  return changeFiles(context, [edit], {
    done: `The MCP servers of ${AGENTS[agent].title} run without Assent again.`,
    nothing: "Nothing to change: no server is behind Assent.",
  });
}

async function findClient(context: Context): Promise<GuardedClient> {
  const { io, operands } = context;
  const agent = agentNamed(operands[0] ?? "", "mcp install");
  const scope = scopeOf(context, "mcp install");
  const directory = await stateDirectory(context);
  const named = clientFile(agent, scope, { home: userHome(io.env), project: io.cwd, env: io.env }, existsSync);
  const path = existsSync(named) ? realpathSync(named) : named; // the diff names the file that changes
  const store = lastingStore(context);
  const base = join(directory, "mcp-clients", `${agent}-${scope === "user" ? "user" : shortDigest(path)}`);
  const setup: GatewaySetup = {
    wrapper: join(directory, "hooks", GATEWAY_NAME),
    options: store === undefined ? [] : ["--store", store],
    ruleName: (name) => [normalizeServerName(name).replace(/^-+/, "")].find(isServerName),
    addressFile: (group) => `${base}${group === "" ? "" : `-${shortDigest(group)}`}.json`,
  };
  return { agent, path, setup, record: setup.addressFile("") };
}

function shortDigest(text: string): string {
  return nodeDigest.sha256(text).slice(0, 12);
}

/** What earlier installs did. Only Assent writes this file; a broken one only means that less can be restored exactly. */
function readRecord(file: string): readonly GuardedServer[] {
  try {
    return (JSON.parse(readText(file) ?? "{}") as { readonly guarded?: readonly GuardedServer[] }).guarded ?? [];
  } catch {
    return [];
  }
}

/** Addresses in the form of `--mcp-config`, and how to restore the client's file. */
function recordEdits(
  { setup, record }: GuardedClient,
  guarded: readonly GuardedServer[],
  addresses: GuardedConfig["addresses"],
): readonly FileEdit[] {
  const groups = new Set(["", ...Object.keys(addresses)]);
  return [...groups].map((group) => {
    const file = setup.addressFile(group);
    const content = { mcpServers: addresses[group] ?? {}, ...(file === record && { guarded }) };
    return { ...ownFile(file, `${JSON.stringify(content, null, 2)}\n`, 0o600), isRecord: true };
  });
}

function ownFile(path: string, after: string, mode: number): FileEdit {
  return { path, before: readText(path), after, mode };
}

async function warnAboutServers({ io }: Context, left: GuardedConfig["left"]): Promise<void> {
  for (const { name, reason } of left) await warn(io, oneLine(`The server ${name} stays as it is: ${reason}.`));
}

/** The client's own logins do not reach the gateway. */
function loginHints(addresses: GuardedConfig["addresses"], setup: GatewaySetup): readonly string[] {
  return Object.entries(addresses).flatMap(([group, servers]) =>
    Object.entries(servers).flatMap(([name, target]) =>
      Object.keys(target.headers).some((header) => header.toLowerCase() === "authorization")
        ? []
        : [`If ${name} wants a login: assent mcp login ${name} --mcp-config ${setup.addressFile(group)}`],
    ),
  );
}
