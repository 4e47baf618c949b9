import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { LONG } from "../../../../test/support/long.ts";
import { BIN, type Place, place } from "../support/assent.ts";
import { callsIn, serving, waitForApproval } from "../support/gateway.ts";

type Connected = { readonly client: Client; readonly kill: () => Promise<void> };

/** A real gateway process, because a killed process is what is tested. */
async function connect(at: Place, hold: string): Promise<Connected> {
  const args = [BIN, "mcp", "serve", "--hold", hold, ...serving(at, "plain")];
  const transport = new StdioClientTransport({ command: process.execPath, args, env: at.env, cwd: at.workspace, stderr: "ignore" });
  const client = new Client({ name: "tester", version: "1" });
  await client.connect(transport);
  return {
    client,
    kill: async () => {
      const { promise: closed, resolve } = Promise.withResolvers<void>();
      client.onclose = resolve;
      if (transport.pid) process.kill(transport.pid, "SIGKILL");
      await closed;
    },
  };
}

const ROUNDS = LONG ? 100 : 2;

describe("kill -9 of the gateway between yes and effect", () => {
  test(`${ROUNDS} times: no call runs twice, and the record is sound`, async (t) => {
    using at = place();
    const outcomes = { before: 0, after: 0 };
    for (let round = 0; round < ROUNDS; round += 1) {
      const echo = { name: "echo", arguments: { text: `round ${round}` } };
      writeFileSync(join(at.root, "calls.log"), "");
      const first = await connect(at, "60s");
      const lost = first.client.callTool(echo).catch(() => "lost");
      const approval = await waitForApproval(at);
      await at.here(["approve", approval]);
      await delay((round * 7) % 120); // the moment of the kill moves through the commits and the effect
      await first.kill();
      const answered = await lost;
      const ran = callsIn(at).filter(Boolean).length;
      assert.ok(ran <= 1, `round ${round}: ran ${ran} times`);
      outcomes[ran === 0 ? "before" : "after"] += 1;
      if (answered === "lost") {
        const second = await connect(at, "100ms");
        const again = await second.client.callTool(echo);
        const total = callsIn(at).filter(Boolean).length;
        assert.ok(total <= 1, `round ${round}: ran ${total} times in all`);
        if (ran === 1) assert.equal(again.isError, true, `round ${round}: what may have run is not run again without a new answer`);
        await second.client.close();
      }
      const { value } = await at.hereJson(["approvals"]);
      for (const { id } of value.approvals ?? value) await at.here(["reject", id]);
    }
    const verified = await at.run(["verify"]);
    assert.equal(verified.code, 0, verified.stdout);
    t.diagnostic(`killed before the effect ${outcomes.before} times, after it ${outcomes.after} times`);
  });
});
