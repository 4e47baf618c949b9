import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { type Place, place } from "../support/assent.ts";
import { callsIn, serving, waitForApproval } from "../support/gateway.ts";

const ECHO = { name: "echo", arguments: { text: "hello" } };

type Running = { readonly url: string; readonly authorization: string; readonly stop: () => Promise<number | null> };

async function startHttp(at: Place): Promise<Running> {
  const child = at.start(["mcp", "serve", "--http", ...serving(at, "plain")]);
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
      const client = new Client({ name: `tester-${mode}`, version: "1" }, { versionNegotiation: { mode } });
      await client.connect(
        new StreamableHTTPClientTransport(new URL(running.url), { requestInit: { headers: { authorization: running.authorization } } }),
      );
      assert.equal(client.getNegotiatedProtocolVersion(), mode === "auto" ? "2026-07-28" : "2025-11-25");
      const called = client.callTool(ECHO);
      await at.here(["approve", await waitForApproval(at)]);
      assert.deepEqual((await called).content, [{ type: "text", text: "hello" }]);
      assert.equal(callsIn(at).length, before + 1);
      await client.close();
    });

  const REFUSED: readonly (readonly [string, Record<string, string>, number])[] = [
    ["without the token", { authorization: "" }, 401],
    ["with another token", { authorization: "Bearer x" }, 401],
    ["under another name", { host: "evil.example.com" }, 403],
    ["from a page of another site", { origin: "https://evil.example.com" }, 403],
  ];
  for (const [words, headers, status] of REFUSED)
    test(`refuses a request ${words}`, async () => {
      const asked = request(running.url, {
        method: "POST",
        headers: { authorization: running.authorization, "content-type": "application/json", ...headers },
      });
      asked.end("{}");
      const [response] = await once(asked, "response");
      response.resume();
      assert.equal(response.statusCode, status);
    });
});
