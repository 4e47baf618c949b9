import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryLedger, type OpenApproval, openSession, type Session } from "@assent/core";
import { createHostPorts, currentHolder } from "@assent/host";
import { discardAfterNo } from "../../../src/tui/cards/discard-after-no.ts";

test("a store that fails after a rejection does not end the program", async () => {
  const ledger = memoryLedger();
  const session = await openSession(
    { ledger, ...createHostPorts({ stateDirectory: "/nonexistent" }) },
    { holder: currentHolder("test"), create: { cwd: "/" } },
  );
  let heard: Parameters<Session["listen"]>[0] = () => undefined;
  const read = Promise.withResolvers<void>();
  const failing: Session = {
    ...session,
    ledger: {
      ...ledger,
      read: () => {
        read.resolve();
        throw new Error("the disk failed");
      },
    },
    listen: (listener) => {
      heard = listener;
      return { close: () => undefined };
    },
  };
  const settled: string[] = [];
  const discard = discardAfterNo(
    () => failing,
    async (_action, proposal) => void settled.push(proposal),
  );
  discard({ sessionId: session.id, callId: "c1" } as OpenApproval, "no");
  heard({ type: "call.ended", session: session.id, body: { call: "c1" } } as never);
  await read.promise;
  await new Promise((resolve) => setImmediate(resolve)); // Node reports unhandled rejections by then
  assert.deepEqual(settled, []);
});
