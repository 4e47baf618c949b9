import { join } from "node:path";
import type { ConfiguredServer } from "@assent/mcp";
import { loadSettings, type McpServers, readMcpFile, type Settings } from "@assent/policy";
import type { Context } from "../../command-line/spec.ts";
import { readFlags } from "../../compose/flags.ts";
import { type FoundServers, findServers } from "../../compose/mcp/find-servers.ts";
import { readPlace } from "../../compose/place.ts";
import { policyPlaces } from "../../compose/policy.ts";
import { CommandError } from "../../io/failure.ts";
import { counted } from "../../io/visible-text.ts";
import { workspaceTrust } from "../trust/workspace-trust.ts";

export type ServersHere = FoundServers & {
  readonly workspace: string;
  readonly settings: Settings;
  /** Servers of a workspace that is not trusted. */
  readonly unused: McpServers;
};

/** Reads the configuration as a session would. Warns if the workspace is not trusted. */
export async function findServersHere(context: Context, command: string): Promise<ServersHere> {
  const { workspace } = readPlace(context, command);
  const { trusted } = await workspaceTrust(context, { workspace });
  const settings = loadSettings(policyPlaces(context, { workspace, trusted }));
  const { mcpConfig: given, strictMcpConfig: onlyGiven } = readFlags(context);
  const found = findServers({ workspace, readsProject: trusted, given, onlyGiven, settings });
  return { ...found, workspace, settings, unused: trusted ? {} : readMcpFile(join(workspace, ".mcp.json")).servers };
}

export function selectServers(
  { servers, unused, workspace }: Omit<ServersHere, "settings">,
  name: string | undefined,
): readonly ConfiguredServer[] {
  if (name === undefined) return servers;
  const chosen = servers.filter((server) => server.name === name);
  if (chosen.length > 0) return chosen;
  if (Object.hasOwn(unused, name)) {
    const message = `The MCP server '${name}' of ${join(workspace, ".mcp.json")} is not used, because the workspace is not trusted.`;
    throw new CommandError("mcp_server_not_found", 4, { message, hint: "To review and trust it: assent trust" });
  }
  throw new CommandError("mcp_server_not_found", 4, { message: `There is no MCP server '${name}'.`, hint: "assent mcp list" });
}

/** "1 tool, 3 prompts"; the first even if there are none. */
export function describeCounts(...kinds: readonly (readonly [items: readonly unknown[], word: string])[]): string {
  const shown = kinds.filter(([{ length }], at) => at === 0 || length > 0);
  return shown.map(([{ length }, word]) => counted(length, word)).join(", ");
}

export function describeServer(server: ConfiguredServer["server"]): string {
  return server.type === "stdio" ? [server.command, ...server.args].join(" ") : server.url;
}
