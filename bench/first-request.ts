import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Row, ratioRow } from "./measure.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const ROUNDS = 15;
const PROVIDER = "@ai-sdk/openai-compatible";

/** The least that anybody needs to send a first request with this package. */
const LEAST = `
const { createOpenAICompatible } = await import("${PROVIDER}");
const model = createOpenAICompatible({ name: "bench", baseURL: process.env.OPENAI_COMPATIBLE_BASE_URL })("bench");
await model.doStream({ prompt: [{ role: "user", content: [{ type: "text", text: "go" }] }] });
process.exit(0);`;

const ANSWER = 'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

type Start = { readonly args: readonly string[]; readonly until: "request" | "exit"; readonly state?: string };

/**
 * How long `assent run` takes from nothing until a server on this machine sees the model's first request. The budget is three starts of Node and what its provider's
 * package takes to be imported as it is published, which is taken off and told apart; that the program joins it, and is done sooner, counts for us. A run is measured
 * with a state directory of its own, and with one in which an earlier run kept what it had compiled.
 */
export async function firstRequestRows(): Promise<readonly Row[]> {
  const directory = mkdtempSync(join(tmpdir(), "assent-bench-"));
  const kept = join(directory, "kept");
  const run = (state: string): Start => ({
    args: ["packages/cli/bin/assent.js", "run", "go", "--quiet", "--model", "openai-compatible:bench", "--cwd", directory],
    until: "request",
    state,
  });
  const module = ["--input-type=module", "-e"];
  const starts = {
    bare: () => ({ args: ["-e", "0"], until: "exit" }),
    provider: () => ({ args: [...module, `await import("${PROVIDER}")`], until: "exit" }),
    least: () => ({ args: [...module, LEAST], until: "request" }),
    first: (round) => run(join(directory, `state-${round}`)),
    again: () => run(kept),
  } satisfies Record<string, (round: number) => Start>;
  try {
    const { bare, provider, least, first, again } = await fastest(starts, directory);
    const imported = provider - bare;
    const apart = { name: `of importing ${PROVIDER}`, value: imported };
    const row = (name: string, whole: number): Row => ({
      ...ratioRow(name, { value: whole - imported, base: bare, unit: "ms" }, { of: "bare node", most: 3 }),
      apart,
    });
    return [
      row("assent run to its first model request, the first time", first),
      row("assent run to its first model request, later", again),
      ratioRow("the same, its provider's import included", { value: again, base: least, unit: "ms" }, { of: "the least program", most: 2 }),
    ];
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Milliseconds of the fastest of several starts of each, one after the other, so that all of them meet the same noise. */
async function fastest<Name extends string>(
  starts: Readonly<Record<Name, (round: number) => Start>>,
  home: string,
): Promise<Record<Name, number>> {
  let seen = (): void => undefined;
  const server = createServer((request, response) => {
    seen();
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" }).end(ANSWER);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  // Parsing: a server on a port has an address of this kind.
  const { port } = server.address() as AddressInfo;
  const env = { ...process.env, HOME: home, ASSENT_DIST: "1", OPENAI_COMPATIBLE_BASE_URL: `http://127.0.0.1:${port}/v1` };
  const best = new Map<Name, number>();
  // Parsing: the keys of a record.
  const names = Object.keys(starts) as Name[];
  try {
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const name of names) {
        const took = await timed(starts[name](round), env, (tell) => {
          seen = tell;
        });
        if (round > 0) best.set(name, Math.min(best.get(name) ?? Number.POSITIVE_INFINITY, took)); // the first round makes what is kept
      }
    }
  } finally {
    server.close();
  }
  // Parsing: every name was measured just now.
  return Object.fromEntries(best) as Record<Name, number>;
}

async function timed({ args, until, state }: Start, env: NodeJS.ProcessEnv, onRequest: (tell: () => void) => void): Promise<number> {
  const start = process.hrtime.bigint();
  let asked: bigint | undefined;
  onRequest(() => {
    asked ??= process.hrtime.bigint();
  });
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...env, ...(state !== undefined && { XDG_STATE_HOME: state, ASSENT_STORE: undefined }) },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const code = await new Promise((ended) => child.once("exit", ended));
  const end = until === "exit" ? process.hrtime.bigint() : asked;
  if (code !== 0 || end === undefined) throw new Error(`node ${args.join(" ")} ended with ${String(code)}, or asked nothing`);
  return Number(end - start) / 1e6;
}
