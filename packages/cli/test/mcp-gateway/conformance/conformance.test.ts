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

/**
 * The scenarios for servers, with the number of checks that pass. `server-sse-polling` checks a server that closes streams on purpose;
 * it counts nothing for one that keeps them open.
 */
const SCENARIOS = {
  "server-initialize": 1,
  "logging-set-level": 1,
  ping: 1,
  "completion-complete": 1,
  "tools-list": 1,
  "tools-call-simple-text": 1,
  "tools-call-image": 1,
  "tools-call-audio": 1,
  "tools-call-embedded-resource": 1,
  "tools-call-mixed-content": 1,
  "tools-call-with-logging": 1,
  "tools-call-error": 1,
  "tools-call-with-progress": 1,
  "tools-call-sampling": 1,
  "tools-call-elicitation": 1,
  "json-schema-2020-12": 4,
  "elicitation-sep1034-defaults": 5,
  "server-sse-polling": 0,
  "server-sse-multiple-streams": 2,
  "elicitation-sep1330-enums": 5,
  "resources-list": 1,
  "resources-read-text": 1,
  "resources-read-binary": 1,
  "resources-templates-read": 1,
  "resources-subscribe": 1,
  "resources-unsubscribe": 1,
  "prompts-list": 1,
  "prompts-get-simple": 1,
  "prompts-get-with-args": 1,
  "prompts-get-embedded-resource": 1,
  "prompts-get-with-image": 1,
  "dns-rebinding-protection": 2,
};
const PASSED = Object.entries(SCENARIOS).map(([name, checks]) => `✓ ${name}: ${checks} passed, 0 failed`);

/** Runs all scenarios, also those that the tool calls pending. Returns a line for each, such as "✓ ping: 1 passed, 0 failed". */
async function runScenarios(url: string): Promise<readonly string[]> {
  const child = spawn(process.execPath, [TOOL, "server", "--url", url, "--suite", "all"], { stdio: ["ignore", "pipe", "ignore"] });
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
  assert.deepEqual(await runScenarios(at1), PASSED, "without the gateway");
  assert.deepEqual(await runScenarios(await addToken(t, at2, header.replace("Authorization: ", ""))), PASSED, "through the gateway");
  gateway.kill();
  await once(gateway, "exit");
  assert.equal((await at.here(["verify"])).code, 0);
}

if (LONG)
  test(
    "MCP's conformance tests pass through the gateway as they do without it",
    {
      skip: !existsSync(TOOL) && "not installed: npm run agents -- conformance",
    },
    compare,
  );
