import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createConversation, playScript, type Script } from "@assent/agent";
import { createDispatcher, createRegistry, memoryLedger, openSession, staticPolicy } from "@assent/core";
import { createHostPorts } from "@assent/host";
import { idleTool } from "./calls.ts";
import { type Row, ratioRow } from "./measure.ts";

const TURNS = 1_000;
/** Turns that are measured together. */
const SPAN = 100;
const EARLY = 150;
const WARM_ROUNDS = 12;
const ROUNDS = 30;

const ports = createHostPorts({ stateDirectory: "/nonexistent" });
const holder = { pid: process.pid, host: "bench", processStart: "0", door: "bench" };

/** A call in every turn; each is another one, so that nobody takes them for a loop. */
const script: Script = {
  turns: Array.from({ length: TURNS }, (_, at) =>
    at === TURNS - 1 ? { say: "Done." } : { say: "I look.", calls: [{ tool: "idle_read", id: `c${at}`, input: { path: `src/${at}.ts` } }] },
  ),
};

/** Plays the script and calls `turned` when a turn is about to be answered, counted from 1. */
async function converse(turned: (turn: number) => void): Promise<void> {
  const session = await openSession({ ledger: memoryLedger(), clock: ports.clock, ids: ports.ids }, { holder, create: { cwd: "/" } });
  const { clock, ids, digest } = ports;
  const dispatcher = createDispatcher({ session, clock, ids, digest, policy: staticPolicy() });
  const tools = createRegistry();
  tools.add(idleTool("read"));
  const model = playScript(script, clock).model();
  let turn = 0;
  const counted: typeof model = {
    ...model,
    doStream: (options) => {
      turn += 1;
      turned(turn);
      return model.doStream(options);
    },
  };
  const conversation = createConversation({
    session,
    dispatcher,
    tools: () => tools,
    model: () => counted,
    system: () => "You are measured.",
    clock,
    ids,
    steering: () => "none",
    contextSize: () => Number.MAX_SAFE_INTEGER,
  });
  const { reason } = await conversation.send("go", new AbortController().signal);
  if (reason !== "done" || turn !== TURNS) throw new Error(`the run ended as ${reason} after ${turn} turns`);
}

setFlagsFromString("--expose-gc");
const gc: unknown = runInNewContext("gc");

function collect(): void {
  if (typeof gc === "function") gc();
}

/** Microseconds per turn around the turns 100 and 1,000, the best of several runs. */
async function turnCosts(rounds: number): Promise<{ readonly early: number; readonly late: number }> {
  let early = Number.POSITIVE_INFINITY;
  let late = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) {
    const at: number[] = [];
    await converse((turn) => {
      if (turn === EARLY - SPAN || turn === TURNS - SPAN) collect(); // neither span pays for what came before it
      at[turn] = Number(process.hrtime.bigint()) / 1_000;
    });
    const cost = (last: number): number => ((at[last] ?? 0) - (at[last - SPAN] ?? 0)) / SPAN;
    early = Math.min(early, cost(EARLY));
    late = Math.min(late, cost(TURNS));
  }
  return { early, late };
}

/** Bytes that a run holds after half of its turns and after all of them, beside what there was before. */
async function memory(): Promise<{ readonly half: number; readonly whole: number }> {
  const held = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  for (let round = 0; round < 5; round += 1) {
    collect(); // what earlier runs left goes in several steps
    await new Promise((resolve) => setImmediate(resolve));
  }
  const before = held();
  let half = 0;
  let whole = 0;
  await converse((turn) => {
    if (turn === TURNS / 2) half = held() - before;
    if (turn === TURNS) whole = held() - before;
  });
  return { half, whole };
}

/** The rows about the cost of a turn of the model loop. */
export async function turnRows(): Promise<readonly Row[]> {
  await turnCosts(WARM_ROUNDS);
  const { early, late } = await turnCosts(ROUNDS);
  const { half, whole } = await memory();
  return [
    ratioRow("growth: a turn of the loop at 1,000 turns", { value: late, base: early }, { of: "at 100 turns", most: 1.2 }),
    ratioRow(
      "memory of a run of 1,000 turns",
      { value: whole / 1_024, base: half / 1_024, unit: "KiB" },
      { of: "of 500 turns", most: 2.5 },
    ),
  ];
}
