import { COMMON } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const mcpAdd: Command = {
  name: "mcp add",
  group: "decide",
  decides: true,
  summary: "add an MCP server to your settings: a program, or a URL",
  details: `TARGET is a program or a URL. Write -- before a program with options. Texts may contain \${VAR} and \${VAR:-default}, which are replaced when the server starts; keep secrets out of the file that way.`,
  guide: "mcp.md",
  operands: [
    { name: "NAME", required: true },
    { name: "TARGET", required: true },
    { name: "ARGUMENT", required: false, repeats: true },
  ],
  options: [
    { name: "env", takes: "list", value: "NAME=VALUE", help: "an environment variable of the program (repeatable)" },
    { name: "header", takes: "list", value: "NAME: VALUE", help: "an HTTP header for the URL (repeatable)" },
    { name: "sse", takes: "nothing", help: "the URL uses the older SSE transport" },
    { name: "trust", takes: "nothing", help: "believe what the server says about its tools, such as that one only reads" },
    ...COMMON,
  ],
  exits: { 0: "added", 1: "the settings file could not be written", 2: "wrong usage, or the name is taken" },
  examples: [
    "assent mcp add files -- npx -y @modelcontextprotocol/server-filesystem .",
    `assent mcp add tracker https://tracker.example.com/mcp --header 'Authorization: Bearer \${TRACKER_TOKEN}'`,
  ],
  run: async (context) => (await import("../desk/mcp/change.ts")).addServer(context),
};
