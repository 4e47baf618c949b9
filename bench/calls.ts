import { createDispatcher, createRegistry, defineTool, fixedPolicy, type Ledger, memoryLedger, openSession, type Tool } from "@assent/core";
import { hostPorts } from "@assent/host";
import { z } from "zod";
import { microseconds, type Row, ratioRow } from "./measure.ts";

const schema = z.object({ path: z.string(), limit: z.number().int().optional() });
const holder = { pid: process.pid, host: "bench", processStart: "0", door: "bench" };
const ports = hostPorts({ stateDirectory: "/nonexistent" });
const text = '{"path":"src/index.ts","limit":10}';

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
  const dispatcher = createDispatcher({ session, clock: ports.clock, ids: ports.ids, digest: ports.digest, policy: fixedPolicy() });
  const tools = createRegistry();
  tools.add(tool);
  const { signal } = new AbortController();
  let id = 0;
  return {
    process: async (calls) => {
      id += calls;
      const batch = Array.from({ length: calls }, (_, index) => ({ id: `c${id + index}`, name: tool.name, arguments: text }));
      const { results } = await dispatcher.process({ calls: batch, tools, signal });
      if (results.length !== calls || results.some((result) => result.outcome !== "succeeded"))
        throw new Error(`a call did not succeed: ${JSON.stringify(results[0])}`);
    },
  };
}

/** What anyone's loop does for a call: parse, validate, await, push. */
async function bareLoop(turns: number): Promise<number> {
  const history: unknown[] = [];
  const run = async (input: unknown): Promise<string> => (input ? "done" : "");
  for (let turn = 0; turn < turns; turn += 1) {
    const input = schema.parse(JSON.parse(text));
    history.push({ role: "tool", content: await run(input) });
  }
  return history.length;
}

const WARM_ROUNDS = 40;

/** The rows about the overhead of a call on the memory ledger. */
export async function callRows(): Promise<readonly Row[]> {
  const bare = await microseconds(9, () => bareLoop(2_000));
  const turns = async (count: number): Promise<number> => {
    const { process: go } = await makeDispatcher(memoryLedger(), idleTool("read"));
    for (let turn = 0; turn < count; turn += 1) await go(1);
    return count;
  };
  for (let round = 0; round < WARM_ROUNDS; round += 1) await turns(1_000); // both sides are measured as compiled code
  const thousand = await microseconds(9, () => turns(1_000));
  const hundred = await microseconds(15, () => turns(100));
  const wide = await microseconds(25, async () => {
    const { process: go } = await makeDispatcher(memoryLedger(), idleTool("read"));
    await go(100);
    return 100;
  });
  return [
    ratioRow("call, memory ledger, 1,000 turns × 1", { value: thousand, base: bare }, { of: "bare loop", most: 4 }),
    ratioRow("call, memory ledger, 1 turn × 100", { value: wide, base: bare }, { of: "bare loop", most: 4 }),
    ratioRow("growth: cost at 1,000 turns", { value: thousand, base: hundred }, { of: "at 100 turns", most: 1.2 }),
  ];
}
