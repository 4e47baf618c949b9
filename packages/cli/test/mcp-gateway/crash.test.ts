import assert from "node:assert/strict";
import { watch } from "node:fs";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { LONG } from "../../../../test/support/long.ts";
import { until } from "../../../mcp/test/server-bench.ts";
import { BIN, type Place, place } from "../support/assent.ts";
import { callsIn, serving, waitForApproval } from "../support/gateway.ts";

type Connected = { readonly client: Client; readonly kill: () => Promise<void> };

/** A real gateway process, because a killed process is what is tested. */
async function connect(at: Place, behavior: string, hold: string): Promise<Connected> {
  const args = [BIN, "mcp", "serve", "--hold", hold, ...serving(at, behavior)];
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

async function countEvents(at: Place, type: string): Promise<number> {
  const { stdout } = await at.here(["log", "--type", type, "--json"]);
  return stdout.split("\n").filter(Boolean).length;
}

/** Resolves when files of the record were written so many times more, or soon if that does not happen. */
async function seeWrites(directory: string, count: number): Promise<void> {
  let left = count;
  const watched = watch(directory);
  const { promise, resolve } = Promise.withResolvers<void>();
  watched.on("change", () => {
    left -= 1;
    if (left === 0) resolve();
  });
  await Promise.race([promise, delay(500)]);
  watched.close();
}

const STEP_MS = 8;
const ROUNDS = LONG ? 100 : 2;

describe("kill -9 of the gateway between yes and effect", () => {
  test(`${ROUNDS} times: no call runs twice, an unused answer is kept, and the record is sound`, async (t) => {
    using at = place();
    const killed = { answered: 0, claimed: 0, effect: 0, ended: 0 };
    let wait = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const behavior = round % 4 === 1 ? "hang" : "plain"; // a server that hangs is killed for certain after the effect and before the end
      const echo = { name: "echo", arguments: { text: `round ${round}` } };
      const before = { effects: callsIn(at).length, claims: await countEvents(at, "call.claimed") };
      const effects = (): number => callsIn(at).length - before.effects;
      const first = await connect(at, behavior, "60s");
      const called = first.client.callTool(echo).catch(() => undefined);
      await at.here(["approve", await waitForApproval(at)]);
      if (behavior === "hang") await until(() => effects() === 1);
      else if (round % 2 === 1)
        await seeWrites(at.store, 1 + ((round >> 2) % 4)); // between the commits of the claim and the end
      else await delay(wait); // moves to the moment of the effect, and stays around it
      await first.kill();
      const result = await called;
      const ran = effects();
      const state = result
        ? "ended"
        : ran > 0
          ? "effect"
          : (await countEvents(at, "call.claimed")) > before.claims
            ? "claimed"
            : "answered";
      killed[state] += 1;
      if (round % 2 === 0) wait = Math.max(0, wait + (ran > 0 ? -2 * STEP_MS : STEP_MS));
      const second = await connect(at, behavior, "100ms");
      const again = await second.client.callTool(echo);
      if (state === "answered") assert.deepEqual([again.isError ?? false, effects()], [false, 1], `round ${round}: the answer is used`);
      else assert.deepEqual([again.isError, effects()], [true, ran], `round ${round}: killed at ${state}, so it needs a new answer`);
      await second.client.close();
      const { value } = await at.hereJson(["approvals"]);
      for (const { id } of value.approvals ?? value) await at.here(["reject", id]);
    }
    const verified = await at.run(["verify"]);
    assert.equal(verified.code, 0, verified.stdout);
    t.diagnostic(`last recorded or seen before the kill: ${JSON.stringify(killed)}`);
  });
});
