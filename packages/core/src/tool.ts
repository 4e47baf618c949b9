import { buildInvocation } from "./build.ts";
import { parseDefinition } from "./check-definition.ts";
import { type InputReader, readerOf } from "./input-reader.ts";
import { copyInput } from "./model/json/copy.ts";
import type { JsonObject } from "./model/json/json.ts";
import { hasCycleInSchema } from "./model/schema/cycle.ts";
import type { Schemas } from "./ports.ts";
import type { StandardSchema } from "./standard-schema.ts";
import type { CallContext, Invocation, JsonSchema, Maybe, Tool, ToolDefinition } from "./tool-definition.ts";

const NOWHERE: CallContext = Object.freeze({ cwd: "/", callId: "", sessionId: "" });
const READERS = new WeakMap<object, InputReader>();

/** Checks and freezes a definition and creates the tool, without registering it. Throws `ToolDefinitionError`. */
export function defineTool<S extends StandardSchema | JsonSchema>(
  given: ToolDefinition<S>,
  options?: { readonly schemas?: Schemas },
): Tool {
  const definition = parseDefinition(given);
  const reader = readerOf(definition);
  if (options?.schemas) reader.compile(options.schemas);
  const title = definition.title ?? definition.name;
  const tool = withSchema(reader, {
    name: definition.name,
    title,
    displayName: title,
    description: definition.description,
    kind: definition.kind,
    definition,
    hidden: definition.hidden === true,
    pollSafe: definition.pollSafe === true,
    readOnlyHint: readOnlyHint(definition),
    build: (input: unknown, ctx: CallContext = NOWHERE) => buildInvocation({ definition, reader, ctx }, copyInput(input)),
  });
  READERS.set(tool, reader);
  return tool;
}

/** Derives the model's schema on first use. */
function withSchema(reader: InputReader, tool: Omit<Tool, "inputSchema" | "schemaIsRecursive">): Tool {
  let recursive: boolean | undefined;
  const schemaIsRecursive = (): boolean => {
    recursive ??= hasCycleInSchema(reader.shown());
    return recursive;
  };
  Object.defineProperties(tool, {
    inputSchema: { get: reader.shown, enumerable: true },
    schemaIsRecursive: { get: schemaIsRecursive, enumerable: true },
  });
  return Object.freeze(tool) as Tool;
}

/** An input as received, or one already read and frozen. */
export type GivenInput = { readonly value: unknown } | { readonly frozen: JsonObject };

/** Builds an invocation for a runtime, with the tool's own build if it was not made by `defineTool`. */
export function buildFrom(tool: Tool, given: GivenInput, ctx: CallContext): Maybe<Invocation> {
  const reader = READERS.get(tool);
  if (!reader) return tool.build("frozen" in given ? given.frozen : given.value, ctx);
  return buildInvocation({ definition: tool.definition, reader, ctx }, "frozen" in given ? given.frozen : copyInput(given.value));
}

/**
 * Ensures that a tool's input is validated; throws `schema_does_not_compile`. A tool not made by `defineTool` validates
 * in its own build.
 */
export function compileInput(tool: Tool, schemas: Schemas | undefined): void {
  READERS.get(tool)?.compile(schemas);
}

/** True if `defineTool` made the tool and it declares no `confirm`. */
export function hasNoDetails(tool: Tool): boolean {
  return READERS.has(tool) && tool.definition.confirm === undefined;
}

/** True for an object with a name and a build function; never throws. */
export function isTool(value: unknown): value is Tool {
  try {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
    return "name" in value && value.name !== undefined && "build" in value && typeof value.build === "function";
  } catch {
    return false;
  }
}

/**
 * An absent hint means the worst case, except for the two kinds that only read. `fetch` is excluded because it sends
 * data out.
 */
function readOnlyHint({ annotations, kind }: ToolDefinition): boolean {
  if (annotations?.destructiveHint === true) return false;
  return annotations?.readOnlyHint ?? (kind === "read" || kind === "search");
}
