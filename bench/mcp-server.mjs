// A server of the bench: fifty tools that it only lists.
import { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const properties = {
  query: { type: "string", description: "What to look for.", minLength: 1, maxLength: 500 },
  state: { type: "string", enum: ["open", "closed", "all"] },
  labels: { type: "array", items: { type: "string" }, maxItems: 20 },
  page: { type: "integer", minimum: 1 },
};
const inputSchema = { type: "object", properties, required: ["query"], additionalProperties: false };
const description =
  "Looks for tickets. Returns the number, the title, the state and the labels of each ticket, newest first, twenty on a page.";
const tools = Array.from({ length: 50 }, (_, at) => ({ name: `find_tickets_${at}`, description, inputSchema }));
serveStdio(() => {
  const server = new Server({ name: "tickets", version: "1" }, { capabilities: { tools: { listChanged: true } } });
  server.setRequestHandler("tools/list", () => ({ tools }));
  return server;
});
