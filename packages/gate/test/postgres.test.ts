import assert from "node:assert/strict";
import { test } from "node:test";
import { startPostgres } from "../../store-postgres/test/postgres-server.ts";
import { createGate, type Gate, type GateOptions } from "../src/index.ts";
import { newStore, withGate } from "./gate-scene.ts";

const server = await startPostgres(18);
process.env["XDG_STATE_HOME"] = newStore(); // marks and outputs are local

function addMail(gate: Gate): string[] {
  const ran: string[] = [];
  const input = { type: "object", properties: { to: { type: "string" } } };
  gate.tool({
    name: "mail",
    description: "Sends.",
    kind: "other",
    input,
    run: ({ to }) => `sent ${ran.push(String(to))}`,
  });
  return ran;
}

test("a gate keeps its approvals on PostgreSQL, another process answers, and the call runs once", { timeout: 60_000 }, async () => {
  const options: GateOptions = { store: server.url("gate"), approve: "park" };
  const session = await withGate(options, async (gate) => {
    addMail(gate);
    const { calls } = await gate.run([{ id: "1", name: "mail", arguments: { to: "a" } }]);
    assert.deepEqual(
      calls.map(({ outcome }) => outcome),
      ["waiting"],
    );
    return gate.session;
  });
  await withGate(options, async (desk) => {
    for (const { id } of await desk.approvals()) await desk.answer(id, "approve");
  });
  await withGate({ ...options, session }, async (gate) => {
    const ran = addMail(gate);
    await gate.resume();
    await gate.resume();
    assert.deepEqual(ran, ["a"]);
  });
});

for (const [sentence, store, type] of [
  ["a malformed URL", "postgres://me:hunter2@host:port/db", "store_url_invalid"],
  ["a server that is not there", "postgres://me:hunter2@127.0.0.1:1/db", "store_unreachable"],
] as const)
  test(`${sentence} is the ledger's error, without the password`, { timeout: 60_000 }, async () => {
    await assert.rejects(createGate({ store }), (error: Error & { readonly type?: string }) => {
      assert.deepEqual([error.name, error.type], ["LedgerError", type]);
      return !`${error.stack}${JSON.stringify(error)}`.includes("hunter2");
    });
  });
