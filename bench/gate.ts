import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createDispatcher, createRegistry, defineTool, memoryLedger, openSession } from "@assent/core";
import { createGate } from "@assent/gate";
import { createHostPorts, currentHolder } from "@assent/host";
import { createWorkspacePolicy, settingsLocations } from "@assent/policy";
import { z } from "zod";
import { processorMicroseconds, type Row, ratioRow } from "./measure.ts";

const ROUNDS = 5;
const BLOCKS = 10;
const CALLS = 2_000; // enough that young objects are collected in every block
const tool = {
  name: "note",
  description: "Takes a note.",
  kind: "other",
  input: z.object({ text: z.string() }),
  run: () => "noted",
} as const;
const RULES = { allow: ["note"], ask: [], deny: ["shell:command=rm*"] };
const calls = (at: number) => [{ id: `c${at}`, name: "note", arguments: { text: `note ${at}` } }];

/** Calls through a dispatcher that a program put together with the same policy. */
async function dispatcherCalls(): Promise<(at: number) => Promise<unknown>> {
  const { clock, ids, digest } = createHostPorts({ stateDirectory: "/unused" });
  const tools = createRegistry();
  tools.add(defineTool(tool));
  const { source, facts, rules } = createWorkspacePolicy({
    places: { ...settingsLocations(process.env), workspace: process.cwd(), program: true, session: RULES, trusted: false },
    ...{ stateDirectory: "/unused", digest, tools: () => tools },
    follow: { clock, warn: () => undefined, changed: () => undefined },
  });
  const session = await openSession(
    { ledger: memoryLedger(), clock, ids },
    { holder: currentHolder("bench"), create: { cwd: process.cwd() } },
  );
  const dispatcher = createDispatcher({ session, clock, ids, digest, policy: source, facts, rules });
  const { signal } = new AbortController();
  return (at) => dispatcher.process({ calls: calls(at), tools, signal });
}

async function gateCalls(): Promise<(at: number) => Promise<unknown>> {
  const gate = await createGate({ rules: RULES });
  gate.tool(tool);
  return (at) => gate.run(calls(at));
}

/**
 * What a gate adds to a call. Blocks of calls through the gate and through the dispatcher take turns in one process. Comparing the lower quartiles leaves out
 * blocks that a full garbage collection or another program disturbed.
 */
export async function gateRows(): Promise<readonly Row[]> {
  const blocks: Record<"dispatcher" | "gate", number[]> = { dispatcher: [], gate: [] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    const call = { dispatcher: await dispatcherCalls(), gate: await gateCalls() };
    collectGarbage();
    for (let block = 0; block < BLOCKS; block += 1) {
      for (const name of block % 2 === 0 ? (["dispatcher", "gate"] as const) : (["gate", "dispatcher"] as const)) {
        const measured = await processorMicroseconds(async () => {
          for (let at = 0; at < CALLS; at += 1) await call[name](block * CALLS + at);
          return CALLS;
        });
        if (round > 0) blocks[name].push(measured); // the first round compiles
      }
    }
  }
  const measured = { value: lowerQuartile(blocks.gate), base: lowerQuartile(blocks.dispatcher) };
  return [ratioRow("call through a gate, in memory", measured, { of: "the dispatcher", most: 1.2 })];
}

/** Collects all garbage, so that no round pays for the one before it. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
}

function lowerQuartile(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 2] ?? Number.NaN;
}
