import { COMMON, JUDGING, WORKSPACE } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const mcpServe: Command = {
  name: "mcp serve",
  group: "run",
  decides: true, // it starts programs
  summary: "serve MCP servers to another client, and decide about every call",
  details:
    "Runs between an MCP client and its servers, on stdin and stdout. Serves the named servers of your configuration, all of them, or the program after --. One server keeps the names of its tools; of several, a tool is called SERVER__TOOL. Your rules decide about every call. A call that needs approval is held; after the limit, the client gets an error that says to make it again once it is approved.",
  guide: "mcp-gateway.md",
  operands: [{ name: "NAME", required: false, repeats: true, listedBy: "assent mcp list" }],
  keepsDashes: true,
  options: [
    {
      name: "name",
      takes: "text",
      value: "NAME",
      help: "the name of the server in rules, for a program after -- (default: from the program)",
    },
    { name: "http", takes: "nothing", help: "serve any number of clients on http://127.0.0.1, with a token that is printed once" },
    { name: "port", takes: "count", value: "N", max: 65_535, help: "with --http: the port to serve on (default: a free one)" },
    {
      name: "idle",
      takes: "duration",
      value: "DURATION",
      help: "with --http: end the servers of a client that sends nothing for this long (default 30m)",
    },
    { name: "hold", takes: "duration", value: "DURATION", help: "how long a call that waits for approval is held (default 50s)" },
    ...JUDGING.filter(({ name }) => name !== "tool" && name !== "strict-tools"),
    WORKSPACE,
    ...COMMON,
  ],
  exits: {
    0: "the client is gone, or a signal came",
    1: "the servers or the record could not be used",
    2: "wrong usage",
    4: "no such server",
  },
  examples: ["assent mcp serve files", "assent mcp serve -- npx -y @modelcontextprotocol/server-filesystem ."],
  run: async (context) => (await import("../mcp-gateway/serve.ts")).serveGateway(context),
};
