import { COMMON, LOADING, WORKSPACE } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const mcpTest: Command = {
  name: "mcp test",
  group: "look",
  decides: true, // it starts programs
  summary: "start MCP servers, list their tools, and say what is wrong",
  guide: "mcp.md#if-a-server-does-not-work",
  operands: [{ name: "NAME", required: false, listedBy: "assent mcp list" }],
  options: [...LOADING.filter(({ name }) => name.endsWith("mcp-config")), WORKSPACE, ...COMMON],
  exits: { 0: "all of them work", 1: "a server, or one of its tools, cannot be used", 4: "no such server" },
  examples: ["assent mcp test", "assent mcp test files"],
  run: async (context) => (await import("../desk/mcp/test.ts")).testServers(context),
};
