// An MCP proxy that only forwards: the same libraries as the gateway, without rules and record.
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const [, , command, ...args] = process.argv;
const client = new Client({ name: "proxy", version: "1" });
await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
serveStdio(() => {
  const server = new Server({ name: "proxy", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => client.listTools());
  server.setRequestHandler("tools/call", ({ params }) => client.callTool(params));
  server.onclose = () => client.close();
  return server;
});
