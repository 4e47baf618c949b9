import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
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

/** Milliseconds of processor time that a process and those below it have used. */
function processorTime(pid: number): number {
  const used = readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]),
  );
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  return (
    used.reduce((total, nanoseconds) => total + nanoseconds / 1_000_000, 0) +
    children.reduce((total, child) => total + processorTime(child), 0)
  );
}

type CallCost = { processor: number; wall: number };

async function call({ client }: Connected, at: number): Promise<CallCost> {
  const before = process.cpuUsage();
  const start = performance.now();
  await client.callTool({ name: "echo", arguments: { text: `note ${at}` } });
  const wall = performance.now() - start;
  const { user, system } = process.cpuUsage(before);
  return { processor: (user + system) / 1_000, wall };
}

/**
 * Milliseconds per call: processor time of all processes, and elapsed time. The sides take turns, because a process uses more processor time for a
 * call if it waited longer for it, and the gateway's processes also wait for the disk.
 */
async function measureCalls(sides: readonly Connected[]): Promise<readonly CallCost[]> {
  const costs = sides.map(({ pid }) => ({ processor: -processorTime(pid), wall: 0 }));
  for (let at = 0; at < CALLS; at += 1)
    for (const [index, side] of sides.entries()) {
      const cost = costs[index];
      const { processor, wall } = await call(side, at);
      if (cost) Object.assign(cost, { processor: cost.processor + processor, wall: cost.wall + wall });
    }
  return costs.map(({ processor, wall }, index) => ({
    processor: (processor + processorTime(sides[index]?.pid ?? 0)) / CALLS,
    wall: wall / CALLS,
  }));
}

function keepBest(best: CallCost, cost: CallCost): void {
  best.processor = Math.min(best.processor, cost.processor);
  best.wall = Math.min(best.wall, cost.wall);
}

/** An allowed call through the gateway, recorded on disk, beside the same call through a proxy that only forwards. The best round counts. */
export async function gatewayRows(): Promise<readonly Row[]> {
  const root = mkdtempSync(join(tmpdir(), "assent-bench-"));
  mkdirSync(join(root, ".git"));
  const gateway = await connect([BIN, "mcp", "serve", "--allow", "mcp__x", "--name", "x", "--", process.execPath, SERVER], root);
  const proxy = await connect([PROXY, process.execPath, SERVER], root);
  try {
    const [through, past] = await measureCalls([gateway, proxy]);
    if (!through || !past) throw new Error("There are no measurements.");
    for (let round = 1; round < ROUNDS; round += 1)
      for (const [index, cost] of (await measureCalls([gateway, proxy])).entries()) keepBest(index === 0 ? through : past, cost);
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
