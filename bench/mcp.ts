import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ajvSchemas, createHostProcesses, createSystemClock, nodeDigest } from "@assent/host";
import { createServerSet, type McpServerSet } from "@assent/mcp";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { processorMicroseconds, type Row, ratioRow, valueRow } from "./measure.ts";

const SERVERS = 20;
const TOOLS = 50;
const ROUNDS = 5;
const REQUESTS = 1_000;
const SERVER = new URL("./mcp-server.mjs", import.meta.url).pathname;

/** Processor time of this process per start of all servers until their tools are listed, by the client of the SDK alone. */
async function startClients(): Promise<number> {
  const clients = Array.from({ length: SERVERS }, () => new Client({ name: "bench", version: "1" }));
  try {
    return await processorMicroseconds(async () => {
      const listed = await Promise.all(
        clients.map(async (client) => {
          await client.connect(new StdioClientTransport({ command: process.execPath, args: [SERVER], stderr: "ignore" }));
          return (await client.listTools()).tools.length;
        }),
      );
      expectAll(listed.reduce((sum, count) => sum + count, 0));
      return 1;
    });
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
}

/** The same by Assent: each tool has a name, a compiled schema and a place in the list that the model gets. */
async function startSet(workspace: string): Promise<{ readonly started: number; readonly again: number }> {
  const set = createSet(workspace);
  try {
    const started = await processorMicroseconds(async () => {
      await set.settle(60_000);
      expectAll(set.tools().length);
      return 1;
    });
    const again = await processorMicroseconds(async () => {
      for (let at = 0; at < REQUESTS; at += 1) expectAll(set.tools().length);
      return REQUESTS;
    });
    return { started, again };
  } finally {
    await set.close();
  }
}

function createSet(workspace: string): McpServerSet {
  const server = { type: "stdio", command: process.execPath, args: [SERVER], env: {} } as const;
  const servers = Array.from({ length: SERVERS }, (_, at) => ({ name: `s${at}`, server, file: "bench", trusted: false, isOwn: true }));
  return createServerSet(servers, {
    ...{ processes: createHostProcesses({ graceMs: 200 }), clock: createSystemClock(), digest: nodeDigest, schemas: ajvSchemas() },
    ...{ environment: {}, programEnvironment: { PATH: process.env["PATH"] ?? "" }, workspace, version: "0" },
  });
}

function expectAll(count: number): void {
  if (count !== SERVERS * TOOLS) throw new Error(`${count} tools were listed`);
}

/** The rows about MCP servers: the work of this process, not of the servers. In turns; the best round counts. */
export async function mcpRows(): Promise<readonly Row[]> {
  const workspace = mkdtempSync(join(tmpdir(), "assent-bench-"));
  const best = { clients: Number.POSITIVE_INFINITY, started: Number.POSITIVE_INFINITY, again: Number.POSITIVE_INFINITY };
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      best.clients = Math.min(best.clients, await startClients());
      const { started, again } = await startSet(workspace);
      best.started = Math.min(best.started, started);
      best.again = Math.min(best.again, again);
    }
  } finally {
    rmSync(workspace, { recursive: true });
  }
  const measured = { value: best.started / 1_000, base: best.clients / 1_000, unit: "ms" };
  return [
    ratioRow(`start and list ${SERVERS} MCP servers × ${TOOLS} tools`, measured, { of: "the clients of the SDK", most: 3 }),
    valueRow("their tools before each request, unchanged", { value: best.again, unit: "µs" }, 1_000),
  ];
}
