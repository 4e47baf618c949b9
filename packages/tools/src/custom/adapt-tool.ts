import {
  defineTool,
  type JsonSchema,
  type RunContext,
  type Schemas,
  type StandardResult,
  type StandardSchema,
  type Tool,
  type ToolDefinition,
  type Verdict,
} from "@assent/core";
import { readPreview } from "./custom-preview.ts";
import { readResult } from "./custom-result.ts";
import type { ToolSource } from "./discover.ts";
import type { ModuleThread } from "./module-thread.ts";
import type { CallFacts, DescribedItem, DescribedTool } from "./thread-messages.ts";
import { definitionProblem, type ToolFailure } from "./tool-failure.ts";

/** How a tool's author would show a call and its result. Undefined: plainly. */
export type Renderers = {
  readonly call: (params: Readonly<Record<string, unknown>>) => Promise<unknown>;
  readonly result: (result: unknown) => Promise<unknown>;
};

/** A custom tool that passes the same pipeline as any other. */
export type AdaptedTool = {
  readonly tool: Tool;
  readonly source: ToolSource;
  readonly renderers: Renderers;
  /** Digest of its module's file, as it was loaded. */
  readonly code: string;
};

/** What a module's tools are made with. */
export type AdaptOptions = {
  readonly source: ToolSource;
  readonly thread: ModuleThread;
  readonly schemas: Schemas;
  readonly code: string;
};

/** Makes a tool of what a module's thread described; `at` is its place in the factory's list. */
export function adaptTool(item: DescribedItem, at: number, adapting: AdaptOptions): AdaptedTool | { readonly failure: ToolFailure } {
  const { source, schemas, code, thread } = adapting;
  if ("fault" in item) return badTool(source, item.name, item.fault);
  const { name } = item.tool;
  try {
    const tool = defineTool(makeDefinition(item.tool, { ...adapting, at }), { schemas });
    return { tool, source, renderers: makeRenderers(item.tool, thread, at), code };
  } catch (error) {
    return badTool(source, name, `Tool "${name}": ${definitionProblem(error, source.file)}`);
  }
}

function badTool({ file }: ToolSource, tool: string | undefined, reason: string): { readonly failure: ToolFailure } {
  return { failure: { file, ...(tool !== undefined && { tool }), reason, type: "bad_tool" } };
}

type Definition = ToolDefinition<StandardSchema | JsonSchema, Readonly<Record<string, unknown>>>;
type PlacedTool = AdaptOptions & { readonly at: number };

function makeDefinition(described: DescribedTool, placed: PlacedTool): ToolDefinition<JsonSchema> {
  const { name, label, description, kind = "other", hidden, pollSafe, timeoutMs } = described;
  const definition: Definition = {
    name,
    title: label ?? name,
    description,
    kind,
    input: makeInput(described, placed),
    canUpdateOutput: true,
    ...makeAnnotations(described, placed.source),
    ...(hidden !== undefined && { hidden }),
    ...(pollSafe !== undefined && { pollSafe }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...makeOpinions(described, placed),
    ...makeBody(described, placed),
  };
  return definition as unknown as ToolDefinition<JsonSchema>; // parsing: which kind of schema it is, is found out where it is defined
}

/** A library's schema may run code of its author's: it validates in the module's thread. */
function makeInput({ schemaKind, inputSchema }: DescribedTool, { thread, at }: PlacedTool): StandardSchema | JsonSchema {
  if (schemaKind === "plain") return inputSchema;
  const validate = async (input: unknown): Promise<StandardResult<unknown>> =>
    (await thread.ask({ fn: "validate", at, input })) as StandardResult<unknown>; // the thread gives what the schema answered
  const jsonSchema = { input: () => inputSchema as Record<string, unknown> };
  return { "~standard": { version: 1, vendor: "custom-tool", validate, jsonSchema } };
}

/** What a project says about itself is no reason to trust it more. */
function makeAnnotations({ readOnly }: DescribedTool, { level }: ToolSource): Pick<Definition, "annotations"> {
  if (level === "project") return { annotations: { readOnlyHint: false } };
  return readOnly === undefined ? {} : { annotations: { readOnlyHint: readOnly } };
}

/** What the module says about a call that does not run. The runtime checks every answer. */
function makeOpinions(
  { functions }: DescribedTool,
  { thread, at }: PlacedTool,
): Pick<Definition, "permission" | "idempotencyKey" | "probe"> {
  const has = (fn: DescribedTool["functions"][number]): boolean => functions.includes(fn);
  return {
    ...(has("permission") && { permission: async (input) => (await thread.ask({ fn: "permission", at, input })) as Verdict }),
    ...(has("idempotencyKey") && {
      idempotencyKey: async (input, ctx) => (await thread.ask({ fn: "idempotencyKey", at, input, ctx })) as string,
    }),
    ...(has("probe") && { probe: async (input, ctx) => (await thread.ask({ fn: "probe", at, input, ctx })) as never }),
  };
}

function makeBody({ name, functions }: DescribedTool, { thread, at }: PlacedTool): Pick<Definition, "run" | "preview" | "apply"> {
  const during = async (fn: "execute" | "preview" | "apply", input: unknown, run: RunContext): Promise<unknown> =>
    await thread.run({ fn, at, input, call: callFacts(run) }, run);
  if (functions.includes("preview")) {
    return {
      preview: async (params, run) => await readPreview(name, await during("preview", params, run), run.cwd),
      apply: async (applied, run) => readResult(name, await during("apply", applied, run)),
    };
  }
  return { run: async (params, run) => readResult(name, await during("execute", params, run)) };
}

function callFacts({ cwd, sessionId, callId, idempotencyKey }: RunContext): CallFacts {
  return { cwd, sessionId, callId, idempotencyKey };
}

/** A renderer that fails, or gives what cannot leave its thread, has nothing to show. */
function makeRenderers({ functions }: DescribedTool, thread: ModuleThread, at: number): Renderers {
  const plainOr = (fn: "renderCall" | "renderResult") => async (input: unknown) => {
    if (!functions.includes(fn)) return undefined;
    return await thread.ask({ fn, at, input }).catch(() => undefined);
  };
  return { call: plainOr("renderCall"), result: plainOr("renderResult") };
}
