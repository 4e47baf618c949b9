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
import { readPreview, readResult } from "./custom-preview.ts";
import type { ToolSource } from "./discover.ts";
import type { ModuleThread } from "./module-thread.ts";
import type { CallFacts, DescribedItem, DescribedTool } from "./thread-messages.ts";
import { definitionProblem, type ToolFailure } from "./tool-failure.ts";

/** How the author of a tool shows its calls and results. Undefined means the default view. */
export type Renderers = {
  readonly call: (params: Readonly<Record<string, unknown>>) => Promise<unknown>;
  readonly result: (result: unknown) => Promise<unknown>;
};

/** A custom tool that runs through the same pipeline as any other. */
export type AdaptedTool = {
  readonly tool: Tool;
  readonly source: ToolSource;
  readonly renderers: Renderers;
  /** Digest of the module's file when it was loaded. */
  readonly code: string;
};

export type AdaptOptions = {
  readonly source: ToolSource;
  readonly thread: ModuleThread;
  readonly schemas: Schemas;
  readonly code: string;
};

/** Makes a tool from its description; `at` is its index in the factory's list. */
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
  return definition as unknown as ToolDefinition<JsonSchema>; // defineTool finds out which kind of schema it is
}

/** A library's schema can run its author's code, so it validates in the module's thread. */
function makeInput({ schemaKind, inputSchema }: DescribedTool, { thread, at }: PlacedTool): StandardSchema | JsonSchema {
  if (schemaKind === "plain") return inputSchema;
  const validate = async (input: unknown): Promise<StandardResult<unknown>> =>
    (await thread.ask({ fn: "validate", at, input })) as StandardResult<unknown>; // the thread returns the schema's answer
  const jsonSchema = { input: () => inputSchema as Record<string, unknown> };
  return { "~standard": { version: 1, vendor: "custom-tool", validate, jsonSchema } };
}

/** A project's own claims about its tools do not make them more trusted. */
function makeAnnotations({ readOnly }: DescribedTool, { level }: ToolSource): Pick<Definition, "annotations"> {
  if (level === "project") return { annotations: { readOnlyHint: false } };
  return readOnly === undefined ? {} : { annotations: { readOnlyHint: readOnly } };
}

/** Functions that the module runs outside of calls. The runtime checks every answer. */
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

function callFacts({ cwd, sessionId, callId, mode, idempotencyKey }: RunContext): CallFacts {
  return { cwd, sessionId, callId, mode, idempotencyKey };
}

/** If a renderer fails, the default view is used. */
function makeRenderers({ functions }: DescribedTool, thread: ModuleThread, at: number): Renderers {
  const plainOr = (fn: "renderCall" | "renderResult") => async (input: unknown) => {
    if (!functions.includes(fn)) return undefined;
    return await thread.ask({ fn, at, input }).catch(() => undefined);
  };
  return { call: plainOr("renderCall"), result: plainOr("renderResult") };
}
