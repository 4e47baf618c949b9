import {
  defineTool,
  isObject,
  type JsonSchema,
  type RunContext,
  type Schemas,
  type StandardSchema,
  type Tool,
  type ToolDefinition,
  ToolDefinitionError,
} from "@assent/core";
import { readPreview } from "./custom-preview.ts";
import { readResult, readUpdate } from "./custom-result.ts";
import type { CustomTool } from "./custom-tool.ts";
import type { ToolSource } from "./discover.ts";
import { type ApiPorts, callContext } from "./factory-api.ts";
import { insideModule, type ModuleIdentity, outsideModules, type RunningCall } from "./module-scope.ts";
import { parseTool } from "./parse-tool.ts";
import { type ToolFailure, wordsOf } from "./tool-failure.ts";

/** How a tool's author would show a call and its result. Undefined: plainly. */
export type Renderers = {
  readonly call: (params: Readonly<Record<string, unknown>>) => unknown;
  readonly result: (result: unknown) => unknown;
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
export type Adapting = {
  readonly source: ToolSource;
  readonly module: ModuleIdentity;
  readonly ports: ApiPorts;
  readonly schemas: Schemas;
  readonly code: string;
};

/** Makes a tool of what a factory returned; `at` counts from 1. */
export function adaptTool(given: unknown, at: number, adapting: Adapting): AdaptedTool | { readonly failure: ToolFailure } {
  const { source, schemas, code } = adapting;
  const parsed = parseTool(given, at);
  if ("fault" in parsed) return failed(source, parsed.name, parsed.fault);
  const { tool: custom } = parsed;
  const { name } = custom;
  try {
    const unfit = plainFault(custom.parameters);
    if (unfit !== undefined) return failed(source, name, `Tool "${name}": ${unfit}`);
    const tool = defineTool(definitionOf(custom, adapting), { schemas });
    void tool.schemaIsRecursive; // what cannot be shown to a model is refused here
    return { tool, source, renderers: renderersOf(custom, adapting.module), code };
  } catch (error) {
    return failed(source, name, `Tool "${name}": ${definitionWords(error, adapting)}`);
  }
}

function failed({ file }: ToolSource, tool: string | undefined, reason: string): { readonly failure: ToolFailure } {
  return { failure: { file, ...(tool !== undefined && { tool }), reason, type: "bad_tool" } };
}

/** What no library describes must itself say that it describes an object. */
function plainFault(parameters: CustomTool["parameters"]): string | undefined {
  if (typeof parameters === "function" || (isObject(parameters) && ("~standard" in parameters || parameters["type"] === "object")))
    return undefined;
  return 'parameters must be a zod schema, or a JSON Schema with type "object"';
}

const SCHEMA_CODES: readonly string[] = ["bad_schema", "schema_does_not_compile"];

function definitionWords(error: unknown, { source }: Adapting): string {
  if (!(error instanceof ToolDefinitionError)) return `cannot be made: ${wordsOf(error)}`;
  const why = wordsOf(error.cause ?? error).replace(/^Tool '[^']*': /, "");
  if (!SCHEMA_CODES.includes(error.code)) return why.replace(/\.$/, "");
  const endless = /Maximum call stack size exceeded/.test(why) ? `the schema in ${source.file} has no end (${why})` : why;
  return `parameters cannot be described: ${endless}`;
}

type Definition = ToolDefinition<StandardSchema | JsonSchema, Readonly<Record<string, unknown>>>;

function definitionOf(custom: CustomTool, adapting: Adapting): ToolDefinition<JsonSchema> {
  const { name, label, description, parameters, kind = "other", hidden, pollSafe, timeoutMs } = custom;
  const definition: Definition = {
    name,
    title: label ?? name,
    description,
    kind,
    input: parameters,
    canUpdateOutput: true,
    ...annotationsOf(custom, adapting.source),
    ...(hidden !== undefined && { hidden }),
    ...(pollSafe !== undefined && { pollSafe }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...opinionsOf(custom, adapting.module),
    ...bodyOf(custom, adapting),
  };
  return definition as unknown as ToolDefinition<JsonSchema>; // parsing: which kind of schema it is, is found out where it is defined
}

/** What a project says about itself is no reason to trust it more. */
function annotationsOf({ readOnly }: CustomTool, { level }: ToolSource): Pick<Definition, "annotations"> {
  if (level === "project") return { annotations: { readOnlyHint: false } };
  return readOnly === undefined ? {} : { annotations: { readOnlyHint: readOnly } };
}

/** What the module says about a call that does not run. */
function opinionsOf(
  { permission, idempotencyKey, probe }: CustomTool,
  module: ModuleIdentity,
): Pick<Definition, "permission" | "idempotencyKey" | "probe"> {
  const inside = <R>(say: () => R): R => insideModule({ module, phase: "judging", triedToExit: false }, say);
  return {
    ...(permission && { permission: (input) => inside(() => permission(input)) }),
    ...(idempotencyKey && { idempotencyKey: (input, ctx) => inside(() => idempotencyKey(input, ctx)) }),
    ...(probe && { probe: (input, ctx) => inside(() => probe(input, ctx)) }),
  };
}

function bodyOf(custom: CustomTool, { module, ports }: Adapting): Pick<Definition, "run" | "preview" | "apply"> {
  const { name, execute, preview, apply } = custom;
  const during = <R>(run: RunContext, act: (ctx: ReturnType<typeof callContext>) => R): Promise<Awaited<R>> =>
    duringCall(module, run, (call) => act(callContext(module, ports, call)));
  if (preview && apply) {
    return {
      preview: async (params, run) => await readPreview(name, await during(run, (ctx) => preview(params, ctx)), run.cwd),
      apply: async (applied, run) => readResult(name, await during(run, (ctx) => apply(applied, ctx))),
    };
  }
  return {
    run: async (params, run) => {
      const show = (soFar: unknown): void => {
        const display = readUpdate(soFar);
        if (display !== undefined) outsideModules(() => run.update(display));
      };
      return readResult(name, await during(run, (ctx) => execute?.(run.callId, params, show, ctx, run.signal)));
    },
  };
}

/** Only in this time may the module's code start programs and stage actions for this call. */
async function duringCall<R>(
  module: ModuleIdentity,
  run: RunContext,
  act: (call: RunningCall & { readonly run: RunContext }) => R,
): Promise<Awaited<R>> {
  const call = { signal: run.signal, run, over: false };
  try {
    return await insideModule({ module, phase: "running", call, triedToExit: false }, () => act(call));
  } finally {
    call.over = true;
  }
}

/** A renderer that throws has nothing to show. */
function renderersOf({ renderCall, renderResult }: CustomTool, module: ModuleIdentity): Renderers {
  const plainOr = (render: ((what: never) => unknown) | undefined) => (what: unknown) => {
    try {
      return insideModule({ module, phase: "judging", triedToExit: false }, () => render?.(what as never));
    } catch {
      return undefined;
    }
  };
  return { call: plainOr(renderCall), result: plainOr(renderResult) };
}
