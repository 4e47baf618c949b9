import assert from "node:assert/strict";
import { test } from "node:test";
import { startPostgres } from "../../../store-postgres/test/postgres-server.ts";
import { place } from "../support/assent.ts";
import { callsIn, connectGateway, serving, waitForApproval } from "../support/gateway.ts";

const server = await startPostgres(18);
const ECHO = { name: "echo", arguments: { text: "hello" } };

test("on PostgreSQL, a held call runs once when it is approved, and one that waited is found after a reconnect", async () => {
  using at = place();
  at.env["ASSENT_STORE"] = server.url("gateway");
  const first = await connectGateway(at, serving(at, "plain"));
  const held = first.client.callTool(ECHO);
  await at.here(["approve", await waitForApproval(at)]);
  assert.deepEqual((await held).content, [{ type: "text", text: "hello" }]);
  const stop = new AbortController();
  const left = first.client.callTool(ECHO, { signal: stop.signal });
  const approval = await waitForApproval(at);
  stop.abort();
  await assert.rejects(left);
  assert.equal(await first.end(), 0);
  await at.here(["approve", approval]);
  const second = await connectGateway(at, serving(at, "plain"));
  assert.deepEqual((await second.client.callTool(ECHO)).content, [{ type: "text", text: "hello" }]);
  assert.equal(await second.end(), 0);
  assert.deepEqual(callsIn(at), ["echo", "echo"]);
  assert.equal((await at.here(["verify"])).code, 0);
});
