import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "@assent/core/testing";
import { createAnnouncer } from "../../src/notify/announcer.ts";
import { testReceiver } from "./receiver.ts";
import { notices, scene } from "./scene.ts";

test("two receivers with the same address are told once", async () => {
  await using receiver = await testReceiver();
  const at = await scene();
  await at.open("1");
  const io = { env: {}, stderr: { write: async () => undefined } };
  const one = { type: "slack", url: receiver.url, events: ["approval"] } as const;
  const announcer = createAnnouncer(
    { io, overrides: { clock: manualClock() } } as never,
    { ledger: at.ledger, directory: "/" },
    { one, other: one },
  );
  announcer.add(notices("1"));
  await announcer.settle(2_000);
  assert.equal(receiver.received.length, 1);
});
