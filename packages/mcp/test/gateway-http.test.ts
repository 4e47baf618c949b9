import assert from "node:assert/strict";
import { test } from "node:test";
import { createSystemClock, nodeDigest } from "@assent/host";
import { type OpenConnection, serveOnHttp } from "../src/gateway/index.ts";
import { createBench } from "./server-bench.ts";

test("clients that connect at the same moment are counted before their servers started", async (t) => {
  const { set } = createBench(t, {});
  let arrived = 0;
  const { promise: started, resolve: start } = Promise.withResolvers<void>();
  const arrive = (): void => {
    arrived += 1;
    if (arrived === 103) start();
  };
  const open: OpenConnection = async () => {
    arrive();
    await started;
    return { servers: set, call: () => Promise.reject(new Error("there is no tool")), close: async () => undefined };
  };
  const server = await serveOnHttp({
    ...{ open, version: "0", digest: nodeDigest, clock: createSystemClock(), port: 0, idleMs: 60_000 },
    failed: (error) => assert.fail(String(error)),
  });
  t.after(() => server.close());
  const connect = async (): Promise<number> => {
    const response = await fetch(server.url, { method: "POST", headers: headersFor(server.token), body: INITIALIZE });
    await response.text();
    if (response.status === 503) arrive();
    return response.status;
  };
  const statuses = await Promise.all(Array.from({ length: 103 }, connect));
  assert.equal(statuses.filter((status) => status === 200).length, 100);
  assert.equal(statuses.filter((status) => status === 503).length, 3);
});

const INITIALIZE = JSON.stringify({
  ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "many", version: "1" } },
});

function headersFor(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}`, "content-type": "application/json", accept: "application/json, text/event-stream" };
}
