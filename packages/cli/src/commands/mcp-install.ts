import { AGENT, COMMON, HOOK_CHANGES } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const mcpInstall: Command = {
  name: "mcp install",
  group: "decide",
  decides: true,
  summary: "put Assent in front of the MCP servers of another client",
  details:
    "Rewrites the client's configuration so that it starts assent mcp serve instead of each server. Shows the change and asks. The first version of the file is kept beside it as FILE.before-assent. Run it again after you add a server.",
  guide: "mcp.md#guard-the-servers-of-another-client",
  operands: [AGENT],
  options: [...HOOK_CHANGES, ...COMMON],
  exits: {
    0: "done, or nothing to change",
    1: "declined, or the file cannot be changed",
    2: "wrong usage, or neither a terminal nor --yes",
  },
  examples: ["assent mcp install claude", "assent mcp install codex --dry-run", "assent mcp install claude --project --yes"],
  run: async (context) => (await import("../guard/mcp-install.ts")).installGateway(context),
};
