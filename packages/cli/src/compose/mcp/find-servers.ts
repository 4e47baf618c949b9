import { join } from "node:path";
import type { ConfiguredServer } from "@assent/mcp";
import {
  type McpServers,
  normalizeServerName,
  projectSettingsFile,
  readMcpFile,
  readMcpText,
  type Settings,
  type SettingsProblem,
} from "@assent/policy";

export type FoundServers = { readonly servers: readonly ConfiguredServer[]; readonly problems: readonly SettingsProblem[] };

export type ServerSources = {
  readonly workspace: string;
  /** Only a trusted workspace configures servers, and never with `--policy`. */
  readonly readsProject: boolean;
  /** Values of `--mcp-config`: files, or JSON. */
  readonly given: readonly string[];
  /** Nothing else counts. */
  readonly onlyGiven: boolean;
  readonly settings: Pick<Settings, "mcpServers" | "mcp.trusted">;
};

/**
 * Finds all servers. If a name is configured more than once, the first of these counts:
 *
 * 1. `--mcp-config`
 * 2. `mcpServers` in the settings of the team, the user, the project
 * 3. `.mcp.json` of the workspace
 */
export function findServers({ workspace, readsProject, given, onlyGiven, settings }: ServerSources): FoundServers {
  const project = join(workspace, ".mcp.json");
  const sources = [
    ...given.map((text) =>
      text.trimStart().startsWith("{")
        ? { file: "--mcp-config", ...readMcpText("--mcp-config", text), isOwn: true }
        : { file: text, ...readMcpFile(text, { required: true }), isOwn: true },
    ),
    ...Object.entries(onlyGiven ? {} : settings.mcpServers).map(([name, { file = "settings", ...server }]) => ({
      ...{ file, servers: { [name]: server }, problems: [], isOwn: file !== projectSettingsFile(workspace) },
    })),
    ...(readsProject && !onlyGiven ? [{ file: project, ...readMcpFile(project), isOwn: false }] : []),
  ];
  const found = new Map<string, ConfiguredServer>();
  for (const { file, servers, isOwn } of sources)
    for (const [written, server] of Object.entries<McpServers[string]>(servers)) {
      const name = normalizeServerName(written);
      const trusted = settings["mcp.trusted"].includes(name) || (isOwn && server.trust === true);
      if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), { name, server, file, trusted, isOwn });
    }
  return { servers: [...found.values()], problems: sources.flatMap(({ problems }) => problems) };
}
