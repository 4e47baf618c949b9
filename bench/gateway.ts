import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { type Row, ratioRow } from "./measure.ts";

const CALLS = 500;
const ROUNDS = 5;
const BIN = new URL("../packages/cli/bin/assent.js", import.meta.url).pathname;
const PROXY = new URL("./gateway-proxy.mjs", import.meta.url).pathname;
const SERVER = new URL("./gateway-server.mjs", import.meta.url).pathname;

type Connected = { readonly client: Client; readonly pid: number };

async function connect(args: readonly string[], root: string): Promise<Connected> {
  const env = { PATH: process.env["PATH"] ?? "", HOME: root, ASSENT_STORE: join(root, "store") };
  const client = new Client({ name: "bench", version: "1" });
  const transport = new StdioClientTransport({ command: process.execPath, args: [...args], env, cwd: root, stderr: "ignore" });
  await client.connect(transport);
  await client.listTools();
  return { client, pid: transport.pid ?? 0 };
}

/** Milliseconds of processor time that a process and those below it have used, as the system counts it: in hundredths of a second. */
function processorTime(pid: number): number {
  const [user = 0, system = 0] = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ")
    .slice(11, 13)
    .map(Number);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  return (user + system) * 10 + children.reduce((total, child) => total + processorTime(child), 0);
}

type CallCost = { processor: number; wall: number };

/** Milliseconds per call: processor time of the client, what is between, and the server; and time that passes. */
async function measureCalls({ client, pid }: Connected): Promise<CallCost> {
  const before = processorTime(pid);
  const own = process.cpuUsage();
  const start = performance.now();
  for (let at = 0; at < CALLS; at += 1) await client.callTool({ name: "echo", arguments: { text: `note ${at}` } });
  const wall = (performance.now() - start) / CALLS;
  const { user, system } = process.cpuUsage(own);
  return { processor: (processorTime(pid) - before + (user + system) / 1_000) / CALLS, wall };
}

function keepBest(best: CallCost, cost: CallCost): void {
  best.processor = Math.min(best.processor, cost.processor);
  best.wall = Math.min(best.wall, cost.wall);
}

/** An allowed call through the gateway, recorded on disk, beside the same call through a proxy that only forwards. In turns; the best round counts. */
export async function gatewayRows(): Promise<readonly Row[]> {
  const root = mkdtempSync(join(tmpdir(), "assent-bench-"));
  mkdirSync(join(root, ".git"));
  const gateway = await connect([BIN, "mcp", "serve", "--allow", "mcp__x", "--name", "x", "--", process.execPath, SERVER], root);
  const proxy = await connect([PROXY, process.execPath, SERVER], root);
  try {
    const through = await measureCalls(gateway);
    const past = await measureCalls(proxy);
    for (let round = 1; round < ROUNDS; round += 1) {
      keepBest(past, await measureCalls(proxy));
      keepBest(through, await measureCalls(gateway));
    }
    const budget = { of: "a proxy that only forwards", most: 1.5 };
    return (["wall", "processor"] as const).map((kind) =>
      ratioRow(
        `allowed call through the MCP gateway, on disk, ${kind} time`,
        { value: through[kind], base: past[kind], unit: "ms" },
        budget,
      ),
    );
  } finally {
    await Promise.all([gateway.client.close(), proxy.client.close()]);
    rmSync(root, { recursive: true, force: true });
  }
}
