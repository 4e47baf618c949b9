// Give the model tools that run inside your own program. Rules and approvals apply to them as to tools of any MCP server.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createSdkMcpServer, query, tool } from "@assent/sdk";

const workspace = mkdtempSync(join(tmpdir(), "assent-example-"));
const script = join(workspace, "script.yaml");
writeFileSync(
  script,
  `turns:
  - calls:
      - { tool: mcp__shop__find_order, id: c1, input: { id: 7 } }
  - calls:
      - { tool: mcp__shop__refund, id: c2, input: { id: 7 } }
  - say: Order 7 is refunded.
`,
);

const BY_ID = { type: "object", properties: { id: { type: "integer" } }, required: ["id"] };
const shop = createSdkMcpServer({
  name: "shop",
  tools: [
    tool("find_order", "Finds an order.", BY_ID, ({ id }) => `Order ${id}: 3 books, paid`),
    tool("refund", "Pays an order back.", BY_ID, ({ id }) => `Paid back order ${id}`),
  ],
});

const run = query({
  prompt: "Refund order 7.",
  executable: fileURLToPath(new URL("../packages/cli/bin/assent.js", import.meta.url)), // default: `assent` in PATH
  model: `script:${script}`,
  cwd: workspace,
  store: join(workspace, "store"),
  mcpServers: { shop },
  allow: ["mcp__shop__find_*"],
  canUseTool: ({ tool_name, input }) => {
    console.log(`asked: ${tool_name} ${JSON.stringify(input)}`);
    return { behavior: "allow" };
  },
});

for await (const message of run) {
  if (message.type === "user" && typeof message.message.content !== "string") {
    for (const block of message.message.content) if (block.type === "tool_result") console.log(`result: ${block.content}`);
  }
  if (message.type === "result") console.log(message.result);
}

rmSync(workspace, { recursive: true });
