import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { CallContext, Content, Display, FileImage, Invocation, Preview, RunContext, Tool, ToolResult } from "@assent/core";
import { validateBuildAndExecute } from "@assent/core/ungoverned";
import { createHostFileChanges, createHostFiles, createHostProcesses, sessionOutputDirectory } from "@assent/host";
import { type BuiltinDeps, builtinTools } from "../src/index.ts";
import { scratch } from "./scratch.ts";

/** A session in a workspace of its own, with real files and processes. */
export type Session = {
  readonly root: string;
  readonly workspace: string;
  readonly output: string;
  readonly tool: (name: string) => Tool;
  readonly call: (
    name: string,
    input: object,
    options?: { cwd?: string; signal?: AbortSignal; update?: (display: Display) => void; sessionId?: string },
  ) => Promise<ToolResult>;
};

/** Makes one; `environment` is what commands start from. */
export function session(
  t: TestContext,
  environment: Record<string, string> = { PATH: "/usr/bin:/bin" },
  more: Pick<BuiltinDeps, "hides"> = {},
): Session {
  const root = scratch(t);
  const workspace = root;
  const outputDirectory = join(root, ".state/output");
  const output = sessionOutputDirectory(outputDirectory, "s_1");
  const files = createHostFiles({ outputDirectory });
  const processes = createHostProcesses({ graceMs: 150, lingerMs: 150 });
  const tools = builtinTools({ workspace, readable: [output], files, processes, environment, ...more });
  const tool = (name: string): Tool => {
    const found = tools.find((candidate) => candidate.name === name);
    if (!found) throw new Error(`no tool ${name}`);
    return found;
  };
  return {
    root,
    workspace,
    output,
    tool,
    call: async (name, input, { cwd = workspace, signal = new AbortController().signal, update, sessionId = "s_1" } = {}) => {
      const ctx = { cwd, callId: "c1", sessionId };
      if (!tool(name).definition.preview) return validateBuildAndExecute(tool(name), input, signal, update, ctx);
      let invocation: Invocation;
      try {
        invocation = await tool(name).build(input, ctx);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        return { content: message, error: { type: "invalid_tool_params", message } };
      }
      return execute(tool(name), invocation, ctx);
    },
  };
}

/** The preview of a call, or the result that it has instead. */
export async function previewOf(tool: Tool, invocation: Invocation, ctx: CallContext): Promise<Preview | ToolResult> {
  const { preview } = tool.definition;
  if (!preview) throw new Error(`${tool.name} has no preview`);
  const made = await preview(invocation.input, runContext(ctx));
  return typeof made === "string" ? { content: made } : made;
}

/** Makes the changes of a preview, as the runtime would, and lets the tool speak. */
export async function execute(tool: Tool, invocation: Invocation, ctx: CallContext): Promise<ToolResult> {
  const made = await previewOf(tool, invocation, ctx);
  if ("content" in made) return made;
  const changes = made.changes.map(({ realPath, before, after }) => ({
    path: realPath,
    before: image(before),
    after: image(after),
    mode: null,
  }));
  const end = await createHostFileChanges().apply({ id: "p_test", changes }, { signal: new AbortController().signal });
  assert.deepEqual(end, { state: "changed" });
  const files = made.changes.map(({ path, after }) => ({ path, digest: image(after)?.digest ?? "absent" }));
  const said = await tool.definition.apply?.({ proposalId: "p_test", reason: "", ...made, files }, runContext(ctx));
  assert.ok(said !== undefined);
  return typeof said === "string" ? { content: said } : (said as ToolResult);
}

function image(bytes: Uint8Array | null): FileImage | null {
  return bytes && { digest: `sha256:${createHash("sha256").update(bytes).digest("hex")}`, bytes: () => bytes };
}

export function runContext(ctx: CallContext): RunContext {
  const signal = new AbortController().signal;
  const nothing = async (): Promise<never> => {
    throw new Error("not in this test");
  };
  const pushPendingAction = (): never => {
    throw new Error("not in this test");
  };
  return {
    ...ctx,
    mode: "default",
    signal,
    update: () => undefined,
    gate: nothing,
    attempt: 1,
    idempotencyKey: null,
    started: nothing,
    pushPendingAction,
  };
}

/** The text of a result, or its parts by type. */
export function shown(content: Content): string {
  return typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : `<${part.type}>`)).join("");
}
