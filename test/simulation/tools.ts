import { createHash } from "node:crypto";
import {
  type CallContext,
  createRegistry,
  type Digest,
  defineTool,
  type ProbeAnswer,
  type Registry,
  type RunContext,
  type StandardSchema,
  type Tool,
} from "@assent/core";
import { agentTool, askTool, resolveTool, scheduleCreateTool } from "@assent/tools";
import type { Write } from "./files.ts";
import type { PlannedCall } from "./plan.ts";
import type { Actor, Scheduler } from "./scheduler.ts";

/** What a body did to the world. */
export type Effect = {
  readonly session: string;
  readonly call: string;
  readonly attempt: number;
  readonly key: string | null;
  readonly text: string;
};

/** What stays whatever happens to processes and disks. */
export type Things = { readonly effects: Effect[]; readonly files: Map<string, string>; readonly writes: Write[] };

/** What a call carries: all of it is shown, judged and fingerprinted. */
export type Input = Pick<PlannedCall, "text" | "verdict" | "how">;

/** SHA-256, at once: a digest made elsewhere would come whenever it likes. */
export const digest: Digest = {
  sha256: (text) => createHash("sha256").update(text).digest("hex"),
  sha256Bytes: (bytes) => createHash("sha256").update(bytes).digest("hex"),
};

/** A process that acts on things. */
export type Workshop = { readonly on: Scheduler; readonly actor: Actor; readonly things: Things };

const input: StandardSchema<Input, Input> = {
  "~standard": { version: 1, vendor: "simulation", validate: (value) => ({ value: value as Input }) },
};
const inputSchema = { type: "object" };

/** Declaring tools costs more than using them: what was declared for a process of an earlier world serves one of the next. */
const benches: { readonly registry: Registry; readonly workshop: { -readonly [K in keyof Workshop]: Workshop[K] } }[] = [];
let taken = 0;

/** A new world begins: no process of the old one does anything any more. */
export function clearBenches(): void {
  taken = 0;
}

/** The tools as a process has them. */
export function toolsOf(workshop: Workshop): Registry {
  const bench = benches[taken] ?? newBench(workshop);
  benches[taken] = bench;
  taken += 1;
  Object.assign(bench.workshop, workshop);
  return bench.registry;
}

function newBench(given: Workshop): (typeof benches)[number] {
  const workshop = { ...given };
  const registry = createRegistry();
  const act = async (given: Input, ctx: RunContext): Promise<string> => await affect(workshop, given, ctx);
  /** A body that puts its process on record first, as one that starts a program does. */
  const spawn = async (given: Input, ctx: RunContext): Promise<string> => {
    await ctx.started({ pid: 1, pgid: 1, processStart: "simulated" });
    return await affect(workshop, given, ctx);
  };
  const permission = ({ verdict }: Input): "allow" | "ask" | "deny" => (verdict === "insist" ? "ask" : verdict);
  const unsafe = { kind: "execute", input, inputSchema, permission } as const;
  const preview = {
    locations: ({ text }: Input) => [{ path: `/w/${text}` }],
    preview: ({ text }: Input, { callId }: RunContext) => {
      const changes = ["left", "right"].map((side) => changeOf(workshop.things, `/w/${text}.${side}`, callId));
      return { label: `Change ${text}`, blocks: [text], changes };
    },
    apply: () => "changed",
  };
  const tools: readonly Tool[] = [
    defineTool({
      ...{ name: "look", description: "Looks.", kind: "read", input, inputSchema, permission },
      run: async () => {
        await workshop.on.step(workshop.actor, "looks");
        return "seen";
      },
    }),
    defineTool({ ...unsafe, name: "act", description: "Acts.", run: act }),
    defineTool({ ...unsafe, name: "spawn", description: "Acts by a process of its own.", run: spawn }),
    defineTool({ ...unsafe, name: "probed", description: "Acts, and can tell.", run: act, probe: (_given, ctx) => probe(workshop, ctx) }),
    defineTool({ ...unsafe, name: "keyed", description: "Acts by a key.", run: act, idempotencyKey: (_given, { callKey }) => callKey }),
    defineTool({
      ...{ ...unsafe, name: "nest", description: "Acts through another tool." },
      run: async (given, ctx) => {
        await ctx.gate({ name: "act", arguments: { ...given, how: "plain" } }).catch(() => undefined);
        return await affect(workshop, given, ctx);
      },
    }),
    defineTool({
      ...{ ...unsafe, name: "slow", description: "Acts slowly.", timeoutMs: 1_000 },
      run: async (given, ctx) => {
        await new Promise<void>((resolve) => workshop.on.clock(workshop.actor).timer(2_000, resolve));
        return await affect(workshop, given, ctx);
      },
    }),
    defineTool({ ...unsafe, ...preview, name: "stage", description: "Stages.", kind: "edit", alwaysStages: true }),
    defineTool({ ...unsafe, ...preview, name: "edit", description: "Changes files at once.", kind: "edit" }),
    resolveTool(),
    agentTool(),
    askTool(),
    scheduleCreateTool(),
  ];
  for (const tool of tools) registry.add(tool);
  return { registry, workshop };
}

type Change = { readonly path: string; readonly realPath: string; readonly before: Uint8Array | null; readonly after: Uint8Array };

/** What a file becomes tells whose change it was. */
function changeOf({ files }: Things, path: string, call: string): Change {
  const text = files.get(path);
  return { path, realPath: path, before: text === undefined ? null : Buffer.from(text), after: Buffer.from(`${text ?? ""}+${call}`) };
}

/** An effect with time before and after it. A deaf body does not hear that it should stop. */
async function affect({ on, actor, things }: Workshop, { how, text }: Input, ctx: RunContext): Promise<string> {
  await on.step(actor, `begins ${ctx.callId}`);
  if (how !== "deaf") ctx.signal.throwIfAborted();
  await on.step(actor, `acts for ${ctx.callId}`);
  things.effects.push({ session: ctx.sessionId, call: ctx.callId, attempt: ctx.attempt, key: ctx.idempotencyKey, text });
  await on.step(actor, `ends ${ctx.callId}`);
  if (how === "deaf" && ctx.signal.aborted) await new Promise<void>((resolve) => on.clock(actor).timer(7_000, resolve));
  if (how === "throws") throw new Error("it went wrong afterwards");
  return "acted";
}

async function probe({ on, actor, things }: Workshop, { sessionId, callId }: CallContext): Promise<ProbeAnswer> {
  await on.step(actor, `probes ${callId}`);
  return { state: things.effects.some(({ session, call }) => session === sessionId && call === callId) ? "applied" : "not_applied" };
}
