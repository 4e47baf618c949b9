import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { place } from "../support/assent.ts";
import { callsIn, connectGateway, type GatewayClient, HOSTILE, serving, waitForApproval } from "../support/gateway.ts";

const ECHO = { name: "echo", arguments: { text: "hello" } };
const textOf = ({ content }: CallToolResult): string => JSON.stringify(content);

/** Makes a call that waits, ends the connection, and approves the call. */
async function approveWaiting(at: ReturnType<typeof place>): Promise<void> {
  const first = await connectGateway(at, ["--hold", "50ms", ...serving(at, "plain")]);
  const [, approval = ""] = /waits for approval (a_\w+)/.exec(textOf(await first.client.callTool(ECHO))) ?? [];
  await first.end();
  await at.here(["approve", approval]);
}

const ran = (results: readonly CallToolResult[]): number => results.filter(({ isError }) => isError !== true).length;

describe("an approved call that waits for its client", () => {
  test("runs once if the client makes it twice at once; the other one waits for approval", async () => {
    using at = place();
    await approveWaiting(at);
    const { client, end } = await connectGateway(at, ["--hold", "50ms", ...serving(at, "plain")]);
    const results = await Promise.all([client.callTool(ECHO), client.callTool(ECHO), client.callTool(ECHO)]);
    assert.equal(ran(results), 1);
    await end();
    assert.deepEqual(callsIn(at), ["echo"]);
    assert.equal((await at.here(["verify"])).code, 0);
  });

  test("runs once in the same connection if it is made twice at once", async () => {
    using at = place();
    const { client, end } = await connectGateway(at, ["--hold", "50ms", ...serving(at, "plain")]);
    const [, approval = ""] = /waits for approval (a_\w+)/.exec(textOf(await client.callTool(ECHO))) ?? [];
    await at.here(["approve", approval]);
    const results = await Promise.all([client.callTool(ECHO), client.callTool(ECHO), client.callTool(ECHO)]);
    assert.equal(ran(results), 1);
    await end();
    assert.deepEqual(callsIn(at), ["echo"]);
    assert.equal((await at.here(["verify"])).code, 0);
  });

  test("runs once if two connections of the client make it at once", async () => {
    using at = place();
    await approveWaiting(at);
    const both: GatewayClient[] = [];
    for (let round = 0; round < 2; round += 1) {
      const one = await connectGateway(at, ["--hold", "50ms", ...serving(at, "plain")]);
      await one.client.callTool({ name: "echo", arguments: { text: "another" } });
      both.push(one);
    }
    const results = await Promise.all(both.map(({ client }) => client.callTool(ECHO)));
    console.log(
      results.map(textOf),
      both.map(({ stderr }) => stderr()),
    );
    assert.equal(ran(results), 1);
    for (const { end } of both) await end();
    assert.deepEqual(callsIn(at), ["echo"]);
    assert.equal((await at.here(["verify"])).code, 0);
  });

  test("is not taken from a connection that holds it: the second connection gets an approval of its own", async () => {
    using at = place();
    const first = await connectGateway(at, ["--hold", "60s", ...serving(at, "plain")]);
    const held = first.client.callTool(ECHO);
    const approval = await waitForApproval(at);
    const second = await connectGateway(at, ["--hold", "50ms", ...serving(at, "plain")]);
    const other = await second.client.callTool(ECHO);
    assert.match(textOf(other), /waits for approval a_/);
    assert.doesNotMatch(textOf(other), new RegExp(approval));
    await at.here(["approve", approval]);
    assert.equal((await held).isError ?? false, false);
    await first.end();
    await second.end();
    assert.deepEqual(callsIn(at), ["echo"]);
    assert.equal((await at.here(["verify"])).code, 0);
  });

  test("does not run on another program under the same name", async () => {
    using at = place();
    await approveWaiting(at);
    const other = ["--name", "x", "--", process.execPath, HOSTILE, "plain", at.root, "other"];
    const { client, end } = await connectGateway(at, ["--hold", "50ms", ...other]);
    const result = await client.callTool(ECHO);
    assert.equal(result.isError, true);
    await end();
    assert.deepEqual(callsIn(at), []);
  });
});
