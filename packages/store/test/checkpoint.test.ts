import assert from "node:assert/strict";
import { test } from "node:test";
import { closedSessionDraft } from "@assent/core/testing";
import { openLedger } from "../src/open/open-ledger.ts";
import { A, B, begin, madeLedger, noise, readAll, scratch } from "./made-store.ts";

type Heads = readonly { readonly session: string; readonly seq: number }[];

async function checkpoints(ledger: Awaited<ReturnType<typeof madeLedger>>): Promise<readonly (readonly (readonly [string, number])[])[]> {
  const events = await readAll(ledger, { pos: 0 }, { types: ["store.checkpoint"] });
  return events.map(({ body }) => (body["heads"] as unknown as Heads).map(({ session, seq }) => [session, seq] as const));
}

test("a session that closes has its head written, with those that changed since the last checkpoint", async (t) => {
  const ledger = await madeLedger(t);
  const one = await begin(ledger, A);
  const two = await begin(ledger, B);
  await one.append(closedSessionDraft());
  await two.append(noise(), closedSessionDraft());
  assert.deepEqual(await checkpoints(ledger), [
    [
      [A, 3],
      [B, 2],
    ],
    [[B, 4]],
  ]);
});

test("a ledger that closes writes what it appended, and one that only read or answered writes nothing", async (t) => {
  const directory = await scratch(t);
  const first = await openLedger({ directory });
  const writer = await begin(first);
  await writer.append(noise());
  await first.close();
  const second = await openLedger({ directory });
  await readAll(second);
  await second.answer([
    {
      type: "grant.created",
      v: 1,
      at: "2026-01-01T00:00:00.000Z",
      body: { grant: "g_1", scope: "user", rule: "note", tool: "note", madeBy: "me", approval: "a_1" },
    },
  ]);
  await second.close();
  const third = await madeLedger(t, { directory });
  assert.deepEqual(await checkpoints(third), [[[A, 3]]]);
});

test("every 10,000 events the heads are written", async (t) => {
  const ledger = await madeLedger(t);
  const writer = await begin(ledger);
  for (let at = 0; at < 21; at += 1) await writer.append(...Array.from({ length: 1_000 }, (_, index) => noise(index)));
  const written = await readAll(ledger, { pos: 0 }, { types: ["store.checkpoint"] });
  assert.deepEqual(
    written.map(({ pos }) => Math.floor(pos / 1_000)),
    [10, 20],
  );
});
