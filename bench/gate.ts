import { createDispatcher, createRegistry, defineTool, memoryLedger, openSession } from "@assent/core";
import { createGate } from "@assent/gate";
import { createHostPorts, currentHolder } from "@assent/host";
import { createWorkspacePolicy, settingsLocations } from "@assent/policy";
import { z } from "zod";
import { processorMicroseconds, type Row, ratioRow } from "./measure.ts";

const CALLS = 20_000; // enough that garbage collection falls into every round
const ROUNDS = 9;
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

/** What a gate adds to a call, measured in turns. */
export async function gateRows(): Promise<readonly Row[]> {
  const best = { gate: Number.POSITIVE_INFINITY, dispatcher: Number.POSITIVE_INFINITY };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, make] of [
      ["dispatcher", dispatcherCalls],
      ["gate", gateCalls],
    ] as const) {
      const call = await make();
      const measured = await processorMicroseconds(async () => {
        for (let at = 0; at < CALLS; at += 1) await call(at);
        return CALLS;
      });
      best[name] = Math.min(best[name], measured);
    }
  }
  return [ratioRow("call through a gate, in memory", { value: best.gate, base: best.dispatcher }, { of: "the dispatcher", most: 1.2 })];
}
