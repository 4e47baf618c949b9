import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { liveProcesses } from "../../../../test/support/processes.ts";
import { until } from "../../../mcp/test/server-bench.ts";
import { type Place, place } from "../support/assent.ts";
import { callsIn, serving, waitForApproval } from "../support/gateway.ts";

const ECHO = { name: "echo", arguments: { text: "hello" } };

type Running = { readonly url: string; readonly authorization: string; readonly stop: () => Promise<number | null> };

async function startHttp(at: Place, ...options: readonly string[]): Promise<Running> {
  const child = at.start(["mcp", "serve", "--http", ...options, ...serving(at, "plain")]);
  const lines: string[] = [];
  assert.ok(child.stdout);
  for await (const line of createInterface({ input: child.stdout })) if (lines.push(line) === 2) break;
  const [url = "", header = ""] = lines;
  return {
    url,
    authorization: header.replace("Authorization: ", ""),
    stop: async () => {
      child.kill("SIGTERM");
      const [code] = await once(child, "exit");
      return code;
    },
  };
}

type HttpClient = { readonly client: Client; readonly transport: StreamableHTTPClientTransport };

async function connectHttp({ url, authorization }: Running, mode: "legacy" | "auto"): Promise<HttpClient> {
  const client = new Client({ name: `tester-${mode}`, version: "1" }, { versionNegotiation: { mode } });
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization } } });
  await client.connect(transport);
  return { client, transport };
}

const isRunning = (pid: number): boolean => liveProcesses().some((one) => one.pid === pid);
const serverPid = (at: Place): number => Number(readFileSync(join(at.root, "started"), "utf8"));

describe("the servers of a client over HTTP", () => {
  test("end when the client ends its session, which is over then", async () => {
    using at = place();
    const running = await startHttp(at);
    const { client, transport } = await connectHttp(running, "legacy");
    const pid = serverPid(at);
    assert.ok(isRunning(pid));
    await transport.terminateSession();
    await until(() => !isRunning(pid));
    await client.close();
    assert.equal(await running.stop(), 0);
  });

  for (const mode of ["legacy", "auto"] as const)
    test(`end when a client that negotiates ${mode} is silent for too long; what waits stays open, and it can come back`, async () => {
      using at = place();
      const running = await startHttp(at, "--idle", "500ms", "--hold", "100ms");
      const first = await connectHttp(running, mode);
      const pid = serverPid(at);
      assert.equal((await first.client.callTool(ECHO)).isError, true);
      await first.client.close(); // without a word to the gateway
      await until(() => !isRunning(pid));
      await at.here(["approve", await waitForApproval(at)]);
      const second = await connectHttp(running, mode);
      assert.deepEqual((await second.client.callTool(ECHO)).content, [{ type: "text", text: "hello" }]);
      assert.notEqual(serverPid(at), pid);
      assert.deepEqual(callsIn(at), ["echo"]);
      await second.client.close();
      assert.equal(await running.stop(), 0);
      assert.equal((await at.here(["verify"])).code, 0);
    });

  for (const mode of ["legacy", "auto"] as const)
    test(`are not called for a client that negotiates ${mode} and left while its call was held; it runs once when the client is back`, async () => {
      using at = place();
      const running = await startHttp(at, "--idle", "500ms", "--hold", "60s");
      const first = await connectHttp(running, mode);
      const pid = serverPid(at);
      const called = first.client.callTool(ECHO).catch(() => undefined);
      const approval = await waitForApproval(at);
      await first.client.close(); // without a word to the gateway
      await called;
      await at.here(["approve", approval]);
      await until(() => !isRunning(pid));
      assert.deepEqual(callsIn(at), []);
      const second = await connectHttp(running, mode);
      assert.deepEqual((await second.client.callTool(ECHO)).content, [{ type: "text", text: "hello" }]);
      assert.deepEqual(callsIn(at), ["echo"]);
      await second.client.close();
      assert.equal(await running.stop(), 0);
    });

  test("end with the gateway", async () => {
    using at = place();
    const running = await startHttp(at);
    const { client } = await connectHttp(running, "legacy");
    const pid = serverPid(at);
    assert.equal(await running.stop(), 0);
    assert.equal(isRunning(pid), false);
    await client.close();
  });
});

describe("assent mcp serve --http", () => {
  let at: Place;
  let running: Running;
  before(async () => {
    at = place();
    running = await startHttp(at);
  });
  after(async () => {
    assert.equal(await running.stop(), 0);
    assert.equal((await at.here(["verify"])).code, 0);
    at[Symbol.dispose]();
  });

  for (const mode of ["legacy", "auto"] as const)
    test(`serves a client that negotiates ${mode}, and a held call runs once when it is approved`, async () => {
      const before = callsIn(at).length;
      const { client } = await connectHttp(running, mode);
      assert.equal(client.getNegotiatedProtocolVersion(), mode === "auto" ? "2026-07-28" : "2025-11-25");
      const called = client.callTool(ECHO);
      await at.here(["approve", await waitForApproval(at)]);
      assert.deepEqual((await called).content, [{ type: "text", text: "hello" }]);
      assert.equal(callsIn(at).length, before + 1);
      await client.close();
    });

  const REFUSED: readonly (readonly [string, Record<string, string>, number, string?])[] = [
    ["without the token", { authorization: "" }, 401],
    ["with another token", { authorization: "Bearer x" }, 401],
    ["under another name", { host: "evil.example.com" }, 403],
    ["from a page of another site", { origin: "https://evil.example.com" }, 403],
    ["from a page without an address", { origin: "null" }, 403],
    ["under a name that is none", { host: "a b" }, 400],
    ["under a name with a password", { host: "127.0.0.1:1@evil.example.com" }, 400],
    ["with a method that no page may use", {}, 400, "TRACE"],
    ["that announces a body of 100 MB, before it is sent", { "content-length": "100000000" }, 400],
  ];
  test("refuses a request with two Host headers, although the first is right", async () => {
    const { host, port } = new URL(running.url);
    const socket = connect(Number(port), "127.0.0.1");
    socket.end(
      `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nHost: evil.example.com\r\nAuthorization: ${running.authorization}\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
    );
    let reply = "";
    for await (const chunk of socket) reply += chunk;
    assert.match(reply, /^HTTP\/1\.1 400 [\s\S]*Assent cannot read this request/);
  });
  for (const [words, headers, status, method = "POST"] of REFUSED)
    test(`refuses a request ${words}`, async () => {
      const asked = request(running.url, {
        method,
        headers: { authorization: running.authorization, "content-type": "application/json", ...headers },
      });
      if (headers["content-length"]) asked.write("{");
      else asked.end(method === "POST" ? "{}" : undefined);
      const [response] = await once(asked, "response");
      assert.equal(response.statusCode, status);
      asked.on("error", () => undefined).destroy();
    });
});
