import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { LONG } from "../../../../../test/support/long.ts";
import { place } from "../../support/assent.ts";

const SERVER = join(import.meta.dirname, "server.mjs");
const TOOL = join(
  import.meta.dirname,
  "../../../../../node_modules/.cache/agents/conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js",
);

async function readLines(child: ChildProcess, count: number): Promise<readonly string[]> {
  const lines: string[] = [];
  assert.ok(child.stdout);
  for await (const line of createInterface({ input: child.stdout })) if (lines.push(line) === count) break;
  return lines;
}

/** Adds the token to every request, because the conformance tests send none. */
async function addToken(t: TestContext, url: string, authorization: string): Promise<string> {
  const { port } = new URL(url);
  const server = createServer((asked, response) => {
    const options = { host: "127.0.0.1", port, path: asked.url, method: asked.method, headers: { ...asked.headers, authorization } };
    const passed = request(options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on("error", () => response.destroy());
    response.on("close", () => passed.destroy());
    asked.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

/** Runs all active scenarios. Returns a line for each, such as "✓ ping: 1 passed, 0 failed". */
async function runScenarios(url: string): Promise<readonly string[]> {
  const child = spawn(process.execPath, [TOOL, "server", "--url", url], { stdio: ["ignore", "pipe", "ignore"] });
  const exit = once(child, "exit");
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) lines.push(line);
  await exit;
  return lines.filter((line) => /^[✓✗] /.test(line));
}

async function compare(t: TestContext): Promise<void> {
  using at = place();
  const direct = spawn(process.execPath, [SERVER, "--http"], { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => direct.kill());
  const gateway = at.start(["mcp", "serve", "--http", "--allow", "mcp__c", "--name", "c", "--", process.execPath, SERVER]);
  t.after(() => gateway.kill());
  const [[at1 = ""], [at2 = "", header = ""]] = [await readLines(direct, 1), await readLines(gateway, 2)];
  const without = await runScenarios(at1);
  assert.equal(without.filter((line) => line.startsWith("✓")).length, 30, without.join("\n"));
  assert.deepEqual(await runScenarios(await addToken(t, at2, header.replace("Authorization: ", ""))), without);
  gateway.kill();
  await once(gateway, "exit");
  assert.equal((await at.here(["verify"])).code, 0);
}

if (LONG)
  test(
    "MCP's conformance tests get the same answers through the gateway as without it",
    {
      skip: !existsSync(TOOL) && "not installed: npm run agents -- conformance",
    },
    compare,
  );
