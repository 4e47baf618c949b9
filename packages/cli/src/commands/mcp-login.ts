import { COMMON, LOADING, WORKSPACE } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const mcpLogin: Command = {
  name: "mcp login",
  group: "decide",
  decides: true,
  summary: "log in to an MCP server with a URL, in your browser",
  details:
    "If the browser is on another machine, it ends on a page that cannot be loaded. Copy the address of that page and paste it here.",
  guide: "mcp.md#log-in",
  operands: [{ name: "NAME", required: true, listedBy: "assent mcp list" }],
  options: [...LOADING.filter(({ name }) => name.endsWith("mcp-config")), WORKSPACE, ...COMMON],
  exits: { 0: "logged in", 1: "the server refused", 2: "wrong usage: the server is a program", 4: "no such server" },
  examples: ["assent mcp login tracker"],
  run: async (context) => (await import("../desk/mcp/login.ts")).logIn(context),
};
