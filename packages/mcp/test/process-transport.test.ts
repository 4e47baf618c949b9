import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createHostProcesses } from "@assent/host";
import { ProcessTransport } from "../src/connect/process-transport.ts";

const SENT = 20_000;
const FLOOD = `
  const message = JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "x".repeat(50) } });
  process.stdout.write((message + "\\n").repeat(${SENT}));
`;

test("a server that floods is read only as fast as its messages are taken", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "assent-flood-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  let [received, untaken, most] = [0, 0, 0];
  const taken = async (): Promise<void> => {
    most = Math.max(most, untaken);
    await nextTurn();
    untaken = 0;
  };
  const program = { file: process.execPath, args: ["-e", FLOOD], cwd: directory, env: {} };
  const transport = new ProcessTransport(program, createHostProcesses(), taken);
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  transport.onclose = resolve;
  transport.onmessage = () => {
    received += 1;
    untaken += 1;
    most = Math.max(most, untaken);
  };
  await transport.start();
  await closed;
  assert.equal(received, SENT);
  assert.ok(most < SENT / 4, `${most} messages were read before the first was taken`);
});
