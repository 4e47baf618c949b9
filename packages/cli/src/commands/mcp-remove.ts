import { COMMON } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const mcpRemove: Command = {
  name: "mcp remove",
  group: "decide",
  decides: true,
  summary: "remove an MCP server from your settings",
  guide: "mcp.md",
  operands: [{ name: "NAME", required: true, listedBy: "assent mcp list" }],
  options: COMMON,
  exits: { 0: "removed", 1: "the settings file could not be written", 4: "your settings have no such server" },
  examples: ["assent mcp remove files"],
  run: async (context) => (await import("../desk/mcp/change.ts")).removeServer(context),
};
