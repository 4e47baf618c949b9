import assert from "node:assert/strict";
import { hostname } from "node:os";
import { test } from "node:test";
import { createHostProcesses } from "../../src/processes/processes.ts";
import { currentHolder, currentUser } from "../../src/system/identity.ts";
import { runNode } from "../processes/run-node.ts";

test("the user comes from the operating system, not from the environment", async () => {
  const source = `import { currentUser } from "../../src/system/identity.ts"; console.log(JSON.stringify(currentUser()));`;
  const shown: unknown = JSON.parse(await runNode(source, "export USER=mallory LOGNAME=mallory"));
  assert.deepEqual(shown, currentUser());
  assert.equal(currentUser().host, hostname());
});

test("the holder names this process by pid and start time", () => {
  const processStart = createHostProcesses().startOf(process.pid);
  assert.deepEqual(currentHolder("call"), { pid: process.pid, host: hostname(), processStart, door: "call" });
});
