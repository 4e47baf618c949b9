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

/** Processor time per call, of the client, what is between, and the server. */
async function millisecondsPerCall({ client, pid }: Connected): Promise<number> {
  const before = processorTime(pid);
  const own = process.cpuUsage();
  for (let at = 0; at < CALLS; at += 1) await client.callTool({ name: "echo", arguments: { text: `note ${at}` } });
  const { user, system } = process.cpuUsage(own);
  return (processorTime(pid) - before + (user + system) / 1_000) / CALLS;
}

/** An allowed call through the gateway, recorded on disk, beside the same call through a proxy that only forwards. In turns; the best round counts. */
export async function gatewayRows(): Promise<readonly Row[]> {
  const root = mkdtempSync(join(tmpdir(), "assent-bench-"));
  mkdirSync(join(root, ".git"));
  const gateway = await connect([BIN, "mcp", "serve", "--allow", "mcp__x", "--name", "x", "--", process.execPath, SERVER], root);
  const proxy = await connect([PROXY, process.execPath, SERVER], root);
  try {
    const best = { gateway: Number.POSITIVE_INFINITY, proxy: Number.POSITIVE_INFINITY };
    for (let round = 0; round < ROUNDS; round += 1) {
      best.proxy = Math.min(best.proxy, await millisecondsPerCall(proxy));
      best.gateway = Math.min(best.gateway, await millisecondsPerCall(gateway));
    }
    const measured = { value: best.gateway, base: best.proxy, unit: "ms" };
    return [ratioRow("allowed call through the MCP gateway, on disk", measured, { of: "a proxy that only forwards", most: 1.5 })];
  } finally {
    await Promise.all([gateway.client.close(), proxy.client.close()]);
    rmSync(root, { recursive: true, force: true });
  }
}
