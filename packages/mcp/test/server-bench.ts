import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { type Display, type Invocation, type Tool, ToolError, type ToolResult } from "@assent/core";
import { ajvSchemas, createHostProcesses, createSystemClock, nodeDigest } from "@assent/host";
import type { McpServer } from "@assent/policy";
import { type ConfiguredServer, createServerSet, type McpServerSet, type ServerSetDeps } from "../src/index.ts";

const HOSTILE = join(import.meta.dirname, "servers/hostile.mjs");

export type Bench = {
  readonly set: McpServerSet;
  readonly directory: string;
  readonly call: (name: string, input?: object, options?: CallOptions) => Promise<ToolResult>;
};

type CallOptions = { readonly signal?: AbortSignal; readonly update?: (display: Display) => void };

/** A server that misbehaves in the named way. */
export function hostile(behavior: string, directory: string): McpServer {
  return { type: "stdio", command: process.execPath, args: [HOSTILE, behavior, directory], env: {} };
}

/** A server of the npm registry. */
export function published(name: string, ...args: readonly string[]): McpServer {
  const file = new URL(`../../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url).pathname;
  return { type: "stdio", command: process.execPath, args: [file, ...args], env: {} };
}

export function scratch(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), "assent-mcp-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Servers that end with the test, not yet started. */
export function createBench(
  t: TestContext,
  servers: Readonly<Record<string, McpServer>>,
  options: Partial<ServerSetDeps> & Partial<ConfiguredServer> & { readonly directory?: string } = {},
): Bench {
  const { directory = scratch(t), trusted = false, isOwn = true, file = "servers.json", ...deps } = options;
  const configured = Object.entries(servers).map(([name, server]) => ({ name, server, file, trusted, isOwn }));
  const set = createServerSet(configured, {
    processes: createHostProcesses({ graceMs: 200 }),
    clock: createSystemClock(),
    ...{ digest: nodeDigest, schemas: ajvSchemas(), environment: {}, workspace: directory, version: "0" },
    programEnvironment: { PATH: process.env["PATH"] ?? "" },
    ...deps,
  });
  t.after(() => set.close());
  const call: Bench["call"] = async (name, input = {}, { signal = new AbortController().signal, update } = {}) =>
    run(await findTool(set, name).build(input), signal, update);
  return { set, directory, call };
}

/** Runs a built call as the dispatcher does: what a tool throws becomes its result. */
export async function run(call: Invocation, signal: AbortSignal, update?: (display: Display) => void): Promise<ToolResult> {
  try {
    return await call.execute(signal, update);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { content: error.message, error: { message: error.message, type: error.type } };
  }
}

export function findTool(set: McpServerSet, name: string): Tool {
  const tool = set.tools().find((one) => one.name === name);
  if (!tool) throw new Error(`no tool ${name}; there are ${set.tools().map((one) => one.name)}`);
  return tool;
}

/** Waits for a condition, for at most 20 s. */
export async function until(isTrue: () => boolean, what = "it"): Promise<void> {
  for (const deadline = Date.now() + 20_000; !isTrue(); ) {
    if (Date.now() > deadline) throw new Error(`${what} did not happen within 20 s`);
    await delay(10);
  }
}
