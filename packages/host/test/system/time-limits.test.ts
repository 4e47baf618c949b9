import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const TOOL = `
  import { createDispatcher, createRegistry, defineTool, staticPolicy, memoryLedger, openSession } from "@assent/core";
  import { createHostPorts } from "@assent/host";
  const ports = createHostPorts({ stateDirectory: "/nonexistent" });
  const input = { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }), jsonSchema: { input: () => ({ type: "object" }) } } };
  const tool = defineTool({ name: "wait", description: "Waits.", kind: "other", input, timeoutMs: 50, run: () => new Promise(() => {}) });
  const tools = createRegistry();
  tools.add(tool);
  const create = { cwd: "/", workspace: "/", door: "test", mode: "yolo", model: null, version: "1", policy: "p", title: "" };
  const session = await openSession({ ledger: memoryLedger(), ...ports }, { holder: { door: "test", host: "h", pid: 1, processStart: "1" }, create });
  const dispatcher = createDispatcher({ session, ...ports, policy: staticPolicy({ mode: "yolo" }) });
  const { results } = await dispatcher.process({ calls: [{ name: "wait", arguments: "{}" }], tools, signal: new AbortController().signal });
  console.log(results[0].outcome);
`;

const BUSY_SESSION = `
  import { memoryLedger, openSession } from "@assent/core";
  import { createHostPorts } from "@assent/host";
  const ports = { ledger: memoryLedger(), ...createHostPorts({ stateDirectory: "/nonexistent" }) };
  const holder = { door: "test", host: "h", pid: 1, processStart: "1" };
  const session = await openSession(ports, { holder, create: { cwd: "/" } });
  await session.hold();
  await openSession(ports, { holder, id: session.id, takeOver: true }).catch(({ type }) => console.log(type));
`;

const HOOK = `
  import { createSystemClock } from "@assent/host";
  import { runFunction } from "../src/hooks/run-function.ts";
  const call = () => new Promise(() => {});
  const { cause } = await runFunction({ call, input: {}, timeoutMs: 50, clock: createSystemClock() }, new AbortController().signal);
  console.log(cause);
`;

const LIMITS: readonly (readonly [title: string, program: string, printed: string])[] = [
  ["a call", TOOL, "timed_out\n"],
  ["a session that another effect keeps busy", BUSY_SESSION, "session_busy\n"],
  ["a hook function", HOOK, "timed out after 0.05s\n"],
];

for (const [title, program, printed] of LIMITS)
  test(`a time limit fires although nothing else keeps the process alive: ${title}`, () => {
    const cwd = fileURLToPath(new URL("..", import.meta.url));
    const { stdout, stderr, status } = spawnSync(process.execPath, ["--conditions=@assent/source", "--input-type=module", "-e", program], {
      cwd,
      encoding: "utf8",
    });
    assert.deepEqual([status, stdout], [0, printed], stderr);
  });
