import {
  createDispatcher,
  createRegistry,
  defineTool,
  type Ledger,
  memoryLedger,
  openSession,
  staticPolicy,
  type Tool,
} from "@assent/core";
import { createHostPorts } from "@assent/host";
import { z } from "zod";
import { processorMicroseconds, type Row, ratioRow } from "./measure.ts";

const schema = z.object({ path: z.string(), limit: z.number().int().optional() });
const holder = { pid: process.pid, host: "bench", processStart: "0", door: "bench" };
const ports = createHostPorts({ stateDirectory: "/nonexistent" });

/** What the scripted model asks for: it writes the arguments of each call anew. */
function scriptedCall(call: number, name: string): { readonly id: string; readonly name: string; readonly arguments: string } {
  return { id: `c${call}`, name, arguments: JSON.stringify({ path: `src/${call}.ts`, limit: 10 }) };
}

/** A tool of this kind that does nothing. */
export function idleTool(kind: "read" | "other", permission?: "allow"): Tool {
  return defineTool({
    name: `idle_${kind}`,
    description: "Does nothing.",
    kind,
    input: schema,
    run: () => "done",
    ...(permission && { permission: () => permission }),
  });
}

/** A dispatcher with a fresh session on this ledger. */
export async function makeDispatcher(ledger: Ledger, tool: Tool): Promise<{ process: (calls: number) => Promise<void> }> {
  const session = await openSession({ ledger, clock: ports.clock, ids: ports.ids }, { holder, create: { cwd: "/" } });
  const dispatcher = createDispatcher({ session, clock: ports.clock, ids: ports.ids, digest: ports.digest, policy: staticPolicy() });
  const tools = createRegistry();
  tools.add(tool);
  const { signal } = new AbortController();
  let id = 0;
  return {
    process: async (calls) => {
      const batch: ReturnType<typeof scriptedCall>[] = [];
      for (let call = 0; call < calls; call += 1) batch.push(scriptedCall(id++, tool.name));
      const { results } = await dispatcher.process({ calls: batch, tools, signal });
      if (results.length !== calls || results.some((result) => result.outcome !== "succeeded"))
        throw new Error(`a call did not succeed: ${JSON.stringify(results[0])}`);
    },
  };
}

/** What every model loop does for a call: ask the model, parse, validate, run, append to the history. */
async function bareLoop(turns: number): Promise<number> {
  const history: unknown[] = [];
  const model = async (turn: number) => ({ text: "", calls: [scriptedCall(turn, "idle_read")] });
  const tools = new Map([["idle_read", { schema, run: async (input: unknown): Promise<string> => (input ? "done" : "") }]]);
  for (let turn = 0; turn < turns; turn += 1) {
    const said = await model(turn);
    history.push({ role: "assistant", content: said.text, calls: said.calls });
    for (const { id, name, arguments: sent } of said.calls) {
      const tool = tools.get(name);
      history.push({ role: "tool", id, content: await tool?.run(tool.schema.parse(JSON.parse(sent))) });
    }
  }
  return turns;
}

/** Tools are defined once, sessions are opened anew. */
const TOOL = idleTool("read");

async function turns(count: number): Promise<number> {
  const { process: go } = await makeDispatcher(memoryLedger(), TOOL);
  for (let turn = 0; turn < count; turn += 1) await go(1);
  return count;
}

async function oneBatch(count: number): Promise<number> {
  const { process: go } = await makeDispatcher(memoryLedger(), TOOL);
  await go(count);
  return count;
}

/** The same work `times` over; the sum of what it counts. */
async function repeat(times: number, work: () => Promise<number>): Promise<number> {
  let count = 0;
  for (let time = 0; time < times; time += 1) count += await work();
  return count;
}

const ROUNDS = 60;

/**
 * The rows about the overhead of a call on the memory ledger: processor time, the best of interleaved rounds. Every stretch lasts about as long, so that
 * each contains its share of garbage collection.
 */
export async function callRows(): Promise<readonly Row[]> {
  const works = {
    bare: () => repeat(10, () => bareLoop(1_000)),
    thousand: () => turns(1_000),
    hundred: () => repeat(10, () => turns(100)),
    wide: () => repeat(10, () => oneBatch(100)),
  };
  const best = {
    bare: Number.POSITIVE_INFINITY,
    thousand: Number.POSITIVE_INFINITY,
    hundred: Number.POSITIVE_INFINITY,
    wide: Number.POSITIVE_INFINITY,
  };
  for (let round = 0; round < ROUNDS; round += 1)
    for (const name of ["bare", "thousand", "hundred", "wide"] as const)
      best[name] = Math.min(best[name], await processorMicroseconds(works[name]));
  const { bare, thousand, hundred, wide } = best;
  return [
    ratioRow("call, memory ledger, 1,000 turns × 1", { value: thousand, base: bare }, { of: "bare loop", most: 8 }),
    ratioRow("call, memory ledger, 1 turn × 100", { value: wide, base: bare }, { of: "bare loop", most: 8 }),
    ratioRow("growth: cost at 1,000 turns", { value: thousand, base: hundred }, { of: "at 100 turns", most: 1.2 }),
  ];
}
