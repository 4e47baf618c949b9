import { AGENT, COMMON, HOOK_CHANGES } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const mcpUninstall: Command = {
  name: "mcp uninstall",
  group: "decide",
  decides: true,
  summary: "let another client use its MCP servers without Assent",
  guide: "mcp.md#guard-the-servers-of-another-client",
  operands: [AGENT],
  options: [...HOOK_CHANGES, ...COMMON],
  exits: {
    0: "done, or nothing to change",
    1: "declined, or the file cannot be changed",
    2: "wrong usage, or neither a terminal nor --yes",
  },
  examples: ["assent mcp uninstall claude"],
  run: async (context) => (await import("../guard/mcp-install.ts")).uninstallGateway(context),
};
