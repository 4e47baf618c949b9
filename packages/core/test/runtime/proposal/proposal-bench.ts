import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import {
  defineTool,
  type JsonObject,
  type PendingAction,
  type PlannedChange,
  type Preview,
  type ProposalRow,
  type ProposedCall,
  type StandardSchema,
  type Tool,
  type ToolDefinition,
} from "@assent/core";
import { type Bench, type BenchOptions, bench, call, only, textTool } from "../harness.ts";
import { type MemoryFiles, memoryFiles } from "./memory-files.ts";

/** Any object. */
const anySchema: StandardSchema<Record<string, unknown>, Record<string, unknown>> = {
  "~standard": { version: 1, vendor: "test", validate: (value) => ({ value: value as Record<string, unknown> }) },
};
const inputSchema = { type: "object" };

/** `resolve`, as a host declares it. */
export const resolveTool: Tool = defineTool({
  name: "resolve",
  title: "Resolve",
  description: "Applies or discards.",
  kind: "other",
  hidden: true,
  runtimeHandler: "resolve",
  input: anySchema,
  inputSchema,
  check: ({ action }) => (action === "apply" || action === "discard" ? undefined : "params/action must be apply or discard"),
});

/** What a patch says becomes of each file: a new text, null to delete it, or `{ to, text }` to rename it. */
export type Patch = Readonly<Record<string, string | null | { readonly to: string; readonly text: string }>>;

type Definition = ToolDefinition<typeof anySchema>;

/** A tool whose input is `{ patch }`: file names below /workspace, and what becomes of them. */
export function patchTool(files: MemoryFiles, over: Partial<Definition> = {}): Tool {
  return defineTool({
    name: "patch",
    title: "Patch",
    description: "Changes files.",
    kind: "edit",
    input: anySchema,
    inputSchema,
    locations: ({ patch }) => Object.keys(patch as Patch).map((path) => ({ path })),
    preview: ({ patch, label, details }): Preview | string => {
      const changes = changesOf(files, patch as Patch);
      if (changes.length === 0) return "Nothing to do.";
      const blocks = Object.entries(patch as Patch).map(([path, text]) => `${path}\n  + ${JSON.stringify(text)}`);
      const given = details === undefined ? {} : { details: details as JsonObject };
      return {
        label: typeof label === "string" ? label : `Patch: ${Object.keys(patch as Patch).join(", ")}`,
        blocks,
        changes,
        data: { n: changes.length },
        ...given,
      };
    },
    apply: ({ data, files: now }) => ({ content: `Patched ${JSON.stringify(data)}.`, details: { files: now } as unknown as JsonObject }),
    ...over,
  });
}

function changesOf({ texts }: MemoryFiles, patch: Patch): readonly PlannedChange[] {
  return Object.entries(patch).map(([name, after]): PlannedChange => {
    const path = `/workspace/${name}`;
    const text = texts.get(path);
    const before = text === undefined ? null : Buffer.from(text);
    if (after !== null && typeof after === "object")
      return { path, realPath: path, before, after: Buffer.from(after.text), to: `/workspace/${after.to}` };
    return { path, realPath: path, before, after: after === null ? null : Buffer.from(after), mode: 0o644 };
  });
}

export type ProposalBench = Bench & {
  readonly files: MemoryFiles;
  /** Stages a patch and gives its row. */
  readonly stage: (patch: Patch, over?: JsonObject) => Promise<ProposalRow>;
};

export type ProposalOptions = BenchOptions & { readonly texts?: Readonly<Record<string, string>>; readonly files?: MemoryFiles };

/** A bench with `resolve`, `patch`, which always stages, and `put`, which is the same tool and runs at once. */
export async function proposalBench(t: TestContext, options: ProposalOptions = {}): Promise<ProposalBench> {
  const files = options.files ?? memoryFiles(options.texts ?? { "/workspace/a": "one", "/workspace/b": "two" });
  const own =
    options.beside && !options.tools
      ? {}
      : { tools: [resolveTool, patchTool(files, { alwaysStages: true }), patchTool(files, { name: "put" }), ...(options.tools ?? [])] };
  const b = await bench(t, { policy: { mode: "yolo" }, ...options, ...own, deps: { changes: files, ...options.deps } });
  return {
    ...b,
    files,
    stage: async (patch, over = {}) => {
      const known = new Set(b.session.state.proposals.keys());
      await b.process([patching(patch, over)]);
      const row = [...b.session.state.proposals.values()].find(({ id }) => !known.has(id));
      if (!row) throw new Error("nothing was staged");
      return row;
    },
  };
}

/** A call of `patch`. */
export function patching(patch: Patch, over: JsonObject = {}, name = "patch"): ProposedCall {
  return { name, arguments: { patch: patch as unknown as JsonObject, ...over } };
}

/** A call of `resolve`. */
export function resolving(action: "apply" | "discard", over: JsonObject = {}, callId?: string): ProposedCall {
  return { ...(callId !== undefined && { id: callId }), name: "resolve", arguments: { action, reason: "because", ...over } };
}

/** A tool that stages the given actions. */
export function pusher(actions: (() => PendingAction)[], over: Parameters<typeof textTool>[2] = {}): ReturnType<typeof textTool> {
  return textTool("deploy", over.kind ?? "other", {
    run: (_input, ctx) => {
      for (const action of actions) ctx.pushPendingAction(action());
      return "staged";
    },
    ...over,
  });
}

export const done: PendingAction = { label: "Deploy", apply: () => "deployed" };

/** A bench on which this action is staged. */
export async function withAction(
  t: Parameters<typeof proposalBench>[0],
  action: PendingAction,
  options: ProposalOptions = {},
): Promise<ProposalBench> {
  const b = await proposalBench(t, { ...options, tools: [pusher([() => action])] });
  assert.equal(only(await b.process([call("deploy", "x", "push")])).outcome, "succeeded");
  return b;
}
