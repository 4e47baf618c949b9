import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const PROGRAM = `
  import { createDispatcher, createRegistry, defineTool, fixedPolicy, memoryLedger, openSession } from "@assent/core";
  import { hostPorts } from "@assent/host";
  const ports = hostPorts({ stateDirectory: "/nonexistent" });
  const input = { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }), jsonSchema: { input: () => ({ type: "object" }) } } };
  const tool = defineTool({ name: "wait", description: "Waits.", kind: "other", input, timeoutMs: 50, run: () => new Promise(() => {}) });
  const tools = createRegistry();
  tools.add(tool);
  const create = { cwd: "/", workspace: "/", door: "test", mode: "yolo", model: null, version: "1", policy: "p", title: "" };
  const session = await openSession({ ledger: memoryLedger(), ...ports }, { holder: { door: "test", host: "h", pid: 1, processStart: "1" }, create });
  const dispatcher = createDispatcher({ session, ...ports, policy: fixedPolicy({ mode: "yolo" }) });
  const { results } = await dispatcher.process({ calls: [{ name: "wait", arguments: "{}" }], tools, signal: new AbortController().signal });
  console.log(results[0].outcome);
`;

test("a time limit fires although nothing else keeps the process alive", () => {
  const cwd = fileURLToPath(new URL("..", import.meta.url));
  const { stdout, stderr, status } = spawnSync(process.execPath, ["--conditions=@assent/source", "--input-type=module", "-e", PROGRAM], {
    cwd,
    encoding: "utf8",
  });
  assert.deepEqual([status, stdout], [0, "timed_out\n"], stderr);
});
