import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { until } from "../../../mcp/test/server-bench.ts";
import { type Place, place } from "../support/assent.ts";
import { callsIn, connectGateway, type GatewayClient, serving, waitForApproval } from "../support/gateway.ts";

const ECHO = { name: "echo", arguments: { text: "hello" } };
const ACCEPT = { action: "accept", content: { answer: "Approve" } } as const;

function textOf(result: unknown): string {
  return (result as CallToolResult).content.map((block) => (block.type === "text" ? block.text : block.type)).join("");
}

function nameClient(at: Place, answersFrom: readonly string[]): void {
  const file = join(at.root, ".config/assent/settings.json");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ answersFrom }));
}

async function checkRecord(at: Place): Promise<void> {
  const verified = await at.here(["verify"]);
  assert.equal(verified.code, 0, verified.stdout + verified.stderr);
}

const ERAS = ["legacy", "modern"] as const;

for (const era of ERAS)
  describe(`a client of the ${era} protocol`, () => {
    test("gets the server's tools and results as they are, and each call is recorded once", async () => {
      using at = place();
      const { client, end } = await connectGateway(at, ["--allow", "mcp__x", ...serving(at, "plain")], { era });
      const { tools } = await client.listTools();
      assert.deepEqual(tools, [
        { name: "echo", description: "Echoes a text.", inputSchema: { type: "object", properties: { text: { type: "string" } } } },
      ]);
      assert.equal(textOf(await client.callTool(ECHO)), "hello");
      assert.equal(await end(), 0);
      assert.deepEqual(callsIn(at), ["echo"]);
      await checkRecord(at);
    });

    test("a held call runs once when a person approves it", async () => {
      using at = place();
      const { client, end } = await connectGateway(at, serving(at, "plain"), { era });
      const called = client.callTool(ECHO);
      const approved = await at.here(["approve", await waitForApproval(at)]);
      assert.equal(approved.code, 0, approved.stderr);
      assert.match(approved.stderr, /tester through the gateway continues/);
      assert.equal(textOf(await called), "hello");
      await end();
      assert.deepEqual(callsIn(at), ["echo"]);
      await checkRecord(at);
    });

    test("a held call is an error result when a person rejects it", async () => {
      using at = place();
      const { client, end } = await connectGateway(at, serving(at, "plain"), { era });
      const called = client.callTool(ECHO);
      await at.here(["reject", await waitForApproval(at), "--reason", "not now"]);
      const result = await called;
      assert.equal(result.isError, true);
      assert.match(textOf(result), /not now/);
      await end();
      assert.deepEqual(callsIn(at), []);
    });

    test("after the limit it waits, runs once when called again, and an identical call after that is a new one", async () => {
      using at = place();
      const { client, end } = await connectGateway(at, ["--hold", "100ms", ...serving(at, "plain")], { era });
      const waiting = await client.callTool(ECHO);
      const [, approval = ""] = /waits for approval (a_\w+)/.exec(textOf(waiting)) ?? [];
      assert.equal(waiting.isError, true);
      assert.match(textOf(await client.callTool(ECHO)), new RegExp(approval), "the same approval");
      await at.here(["approve", approval]);
      assert.deepEqual(callsIn(at), [], "nothing runs until the client calls again");
      assert.equal(textOf(await client.callTool(ECHO)), "hello");
      assert.doesNotMatch(textOf(await client.callTool(ECHO)), new RegExp(approval));
      assert.deepEqual(callsIn(at), ["echo"]);
      await end();
      await checkRecord(at);
    });

    test("after a reconnect, the same call finds its approval", async () => {
      using at = place();
      const args = ["--hold", "100ms", ...serving(at, "plain")];
      const first = await connectGateway(at, args, { era });
      const [, approval = ""] = /waits for approval (a_\w+)/.exec(textOf(await first.client.callTool(ECHO))) ?? [];
      await first.end();
      await at.here(["approve", approval]);
      const other = await connectGateway(at, args, { era, name: "another client" });
      assert.match(textOf(await other.client.callTool(ECHO)), /waits for approval/, "another client does not get it");
      await other.end();
      const second = await connectGateway(at, args, { era });
      assert.match(textOf(await second.client.callTool({ ...ECHO, arguments: { text: "other" } })), /waits for approval/);
      assert.equal(textOf(await second.client.callTool(ECHO)), "hello");
      assert.match(textOf(await second.client.callTool(ECHO)), /waits for approval/);
      await second.end();
      assert.deepEqual(callsIn(at), ["echo"]);
      await checkRecord(at);
    });

    test("the client is not asked about an input that its form cannot show, and hidden characters are shown as escapes", async () => {
      using at = place();
      nameClient(at, ["elicitation:tester"]);
      const asked: string[] = [];
      const elicit = (message: string): typeof ACCEPT => {
        asked.push(message);
        return ACCEPT;
      };
      const { client, end } = await connectGateway(at, ["--hold", "100ms", ...serving(at, "plain")], { era, elicit });
      const long = await client.callTool({ name: "echo", arguments: { text: "x".repeat(3_000) } });
      assert.match(textOf(long), /waits for approval/);
      assert.deepEqual([asked, callsIn(at)], [[], []]);
      assert.equal(textOf(await client.callTool({ name: "echo", arguments: { text: "a\u202eb" } })), "a\u202eb");
      assert.match(asked.join(), /a\\u\{202e\}b/);
      await end();
      assert.deepEqual(callsIn(at), ["echo"]);
    });

    test("an answer at a client that settings name counts", async () => {
      using at = place();
      nameClient(at, ["elicitation:tester"]);
      const asked: string[] = [];
      const elicit = (message: string): typeof ACCEPT => {
        asked.push(message);
        return ACCEPT;
      };
      const { client, end } = await connectGateway(at, serving(at, "plain"), { era, elicit });
      assert.equal(textOf(await client.callTool(ECHO)), "hello");
      assert.match(asked.join(), /tester wants to call mcp__x__echo with:\s*\{\s*"text": "hello"/);
      await end();
      assert.deepEqual(callsIn(at), ["echo"]);
      assert.match((await at.here(["log", "--json"])).stdout, /"from":\s*"elicitation:tester"/);
      await checkRecord(at);
    });

    const REFUSALS = [
      ["declines", { action: "decline" }],
      ["chooses to reject", { action: "accept", content: { answer: "Reject" } }],
    ] as const;
    for (const [words, answer] of REFUSALS)
      test(`a person who ${words} at the client rejects the call`, async () => {
        using at = place();
        nameClient(at, ["elicitation"]);
        const { client, end } = await connectGateway(at, serving(at, "plain"), { era, elicit: () => answer });
        assert.equal((await client.callTool(ECHO)).isError, true);
        await end();
        assert.deepEqual(callsIn(at), []);
        const { value } = await at.hereJson(["approvals", "--all"]);
        assert.equal((value.approvals ?? value)[0].state, "rejected");
      });

    const UNDECIDED = [
      ["a client that settings do not name", undefined, ACCEPT],
      ["a client, if settings name another one", ["elicitation:other", "terminal"], ACCEPT],
      ["a form that is accepted without a choice", ["elicitation"], { action: "accept", content: {} }],
      ["a closed form", ["elicitation"], { action: "cancel" }],
    ] as const;
    for (const [words, answersFrom, answer] of UNDECIDED)
      test(`${words} does not approve: the call is held`, async () => {
        using at = place();
        if (answersFrom) nameClient(at, answersFrom);
        const { client, end } = await connectGateway(at, ["--hold", "100ms", ...serving(at, "plain")], { era, elicit: () => answer });
        assert.match(textOf(await client.callTool(ECHO)), /waits for approval/);
        await end();
        assert.deepEqual(callsIn(at), []);
      });

    test("an approval does not cover a tool that the server changed", async () => {
      using at = place();
      const first = await connectGateway(at, ["--hold", "100ms", ...serving(at, "plain")], { era });
      const [, approval = ""] = /waits for approval (a_\w+)/.exec(textOf(await first.client.callTool(ECHO))) ?? [];
      await first.end();
      await at.here(["approve", approval]);
      const second = await connectGateway(at, ["--hold", "100ms", ...serving(at, "hints")], { era });
      const refused = await second.client.callTool(ECHO);
      assert.equal(refused.isError, true);
      assert.match(textOf(refused), /changed/);
      assert.match(textOf(await second.client.callTool(ECHO)), /waits for approval/);
      await second.end();
      assert.deepEqual(callsIn(at), []);
      await checkRecord(at);
    });
  });

/** Sends one request of the newer protocol, without the SDK's own rounds. */
async function callRaw({ write, messages }: GatewayClient, id: string, params: object): Promise<ReturnType<typeof JSON.parse>> {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "tester", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
  };
  write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { ...ECHO, ...params, _meta: meta } })}\n`);
  await until(() => messages.some((message) => "id" in message && message.id === id));
  return messages.find((message) => "id" in message && message.id === id);
}

describe("the state that a client of the newer protocol sends back", () => {
  const approve = { inputResponses: { approval: ACCEPT } };

  test("names the approval and nothing else, works once, and only for the same call", async () => {
    using at = place();
    nameClient(at, ["elicitation"]);
    const gateway = await connectGateway(at, ["--hold", "100ms", ...serving(at, "plain")], { era: "modern", elicit: () => ACCEPT });
    const { result: first } = await callRaw(gateway, "r1", {});
    const { requestState } = first;
    assert.match(requestState, /^a_\w+$/);
    assert.deepEqual(Object.keys(first.inputRequests), ["approval"]);
    const other = await callRaw(gateway, "r2", { requestState, ...approve, arguments: { text: "other" } });
    assert.match(other.error.message, /does not name an open approval for this call/);
    const { result: done } = await callRaw(gateway, "r3", { requestState, ...approve });
    assert.equal(textOf(done), "hello");
    const replayed = await callRaw(gateway, "r4", { requestState, ...approve });
    assert.match(replayed.error.message, /does not name an open approval for this call/);
    const invented = await callRaw(gateway, "r5", { requestState: "a_invented", ...approve });
    assert.match(invented.error.message, /does not name an open approval for this call/);
    await gateway.end();
    assert.deepEqual(callsIn(at), ["echo"]);
    await checkRecord(at);
  });
});
