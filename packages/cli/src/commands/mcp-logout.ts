import { COMMON, LOADING, WORKSPACE } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const mcpLogout: Command = {
  name: "mcp logout",
  group: "decide",
  decides: true,
  summary: "forget the login to an MCP server",
  guide: "mcp.md#log-in",
  operands: [{ name: "NAME", required: true, listedBy: "assent mcp list" }],
  options: [...LOADING.filter(({ name }) => name.endsWith("mcp-config")), WORKSPACE, ...COMMON],
  exits: { 0: "forgotten, or there was none", 2: "wrong usage: the server is a program", 4: "no such server" },
  examples: ["assent mcp logout tracker"],
  run: async (context) => (await import("../desk/mcp/login.ts")).logOut(context),
};
