import { createHash } from "node:crypto";
import {
  type CallContext,
  type ChangeEnd,
  createRegistry,
  type Digest,
  defineTool,
  type FileChange,
  type FileChanges,
  type ProbeAnswer,
  type Registry,
  type RunContext,
  type StandardSchema,
  type Tool,
} from "@assent/core";
import { agentTool, askTool, resolveTool } from "@assent/tools";
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
export type Things = { readonly effects: Effect[]; readonly files: Map<string, string> };

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
  const permission = ({ verdict }: Input): "allow" | "ask" | "deny" => (verdict === "insist" ? "ask" : verdict);
  const unsafe = { kind: "execute", input, inputSchema, permission } as const;
  const tools: readonly Tool[] = [
    defineTool({
      ...{ name: "look", description: "Looks.", kind: "read", input, inputSchema, permission },
      run: async () => {
        await workshop.on.step(workshop.actor, "looks");
        return "seen";
      },
    }),
    defineTool({ ...unsafe, name: "act", description: "Acts.", run: act }),
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
    defineTool({
      ...{ ...unsafe, name: "stage", description: "Stages.", kind: "edit", alwaysStages: true },
      locations: ({ text }) => [{ path: `/w/${text}` }],
      preview: ({ text }) => {
        const changes = ["left", "right"].map((side) => changeOf(workshop.things, `/w/${text}.${side}`));
        return { label: `Change ${text}`, blocks: [text], changes };
      },
      apply: () => "changed",
    }),
    resolveTool(),
    agentTool(),
    askTool(),
  ];
  for (const tool of tools) registry.add(tool);
  return { registry, workshop };
}

function changeOf({ files }: Things, path: string): { path: string; realPath: string; before: Uint8Array | null; after: Uint8Array } {
  const text = files.get(path);
  return { path, realPath: path, before: text === undefined ? null : Buffer.from(text), after: Buffer.from(`${text ?? ""}+`) };
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

/** Files that are changed one after the other, so that a process can end between two of them. */
export function changesOf({ on, actor, things }: Workshop): FileChanges {
  const put = async ({ path }: FileChange, image: FileChange["after"]): Promise<void> => {
    await on.step(actor, `replaces ${path}`);
    if (image) things.files.set(path, Buffer.from(await image.bytes()).toString());
    else things.files.delete(path);
  };
  return {
    apply: async ({ changes }, { signal, committing }): Promise<ChangeEnd> => {
      await on.step(actor, "compares files");
      const stale = changes.filter((change) => standing(things, change) === "other" || standing(things, change) === "after");
      if (stale.length > 0) return { state: "stale", files: stale.map(({ path }) => path) };
      for (const { after } of changes) await after?.bytes();
      if (signal.aborted) return { state: "cancelled" };
      committing?.();
      for (const change of changes) await put(change, change.after);
      return { state: "changed" };
    },
    recover: async ({ changes }) => {
      await on.step(actor, "looks at files");
      const at = changes.map((change) => standing(things, change));
      const files = changes.map(({ path }, index) => ({ path, at: at[index] ?? "other" }));
      if (at.includes("other")) return { state: "unknown", message: "changed otherwise", files };
      if (at.every((each) => each === "after")) return { state: "after" };
      const replaced = changes.filter((_change, index) => at[index] === "after");
      for (const change of replaced) await put(change, change.before);
      return { state: "before", restored: replaced.length };
    },
  };
}

function standing({ files }: Things, { path, before, after }: FileChange): "before" | "after" | "other" {
  const text = files.get(path);
  const now = text === undefined ? undefined : `sha256:${digest.sha256(text)}`;
  if (now === before?.digest) return "before";
  return now === after?.digest ? "after" : "other";
}
