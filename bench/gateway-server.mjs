// The MCP server of the bench: one tool that returns its text.
import { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const inputSchema = { type: "object", properties: { text: { type: "string" } } };
serveStdio(() => {
  const server = new Server({ name: "echo", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({ tools: [{ name: "echo", description: "Echoes a text.", inputSchema }] }));
  server.setRequestHandler("tools/call", ({ params }) => ({ content: [{ type: "text", text: String(params.arguments?.text) }] }));
  return server;
});
