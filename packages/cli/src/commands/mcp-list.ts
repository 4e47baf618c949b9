import { COMMON, LOADING, WORKSPACE } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const mcpList: Command = {
  name: "mcp list",
  group: "look",
  looks: true,
  summary: "list the MCP servers that are configured here, without starting them",
  guide: "mcp.md",
  operands: [],
  options: [...LOADING.filter(({ name }) => name.endsWith("mcp-config")), WORKSPACE, ...COMMON],
  examples: ["assent mcp list"],
  run: async (context) => (await import("../desk/mcp/list.ts")).listServers(context),
};
