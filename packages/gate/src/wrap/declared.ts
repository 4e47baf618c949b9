import { isObject, type JsonSchema, type RunContext, type Tool } from "@assent/core";
import { ANTHROPIC_MESSAGES, type AnthropicMessage } from "../adapters/anthropic.ts";
import { OPENAI_CHAT, OPENAI_RESPONSES, type OpenAIChatMessage, type OpenAIResponsesItem } from "../adapters/openai.ts";
import { makeAdapter, type ProviderAdapter, type Wire } from "../adapters/provider-adapter.ts";
import { GateUsageError } from "../gate-error.ts";
import { governTool, readToolSchema, type WrapContext } from "./governed-tool.ts";
import { checkTraitNames, entryOf, type ToolTraits, traitsDefinition } from "./traits.ts";

/** A tool of OpenAI's Chat Completions API, as programs declare it. */
export type OpenAIChatDeclaration = { readonly type: string; readonly function: { readonly name: string } };

/** A tool of OpenAI's Responses API, as programs declare it. */
export type OpenAIResponsesDeclaration = { readonly type: string };

/** A tool of Anthropic's Messages API, as programs declare it. */
export type AnthropicDeclaration = { readonly name: string };

/** The functions behind declared tools, by name. */
export type ToolHandlers = Readonly<Record<string, (input: never, ctx: RunContext) => unknown>>;

type Traits = Readonly<Record<string, ToolTraits | undefined>>;

/** A declaration, read: its name, and its schema if the program declared one. */
type ReadDeclaration =
  | {
      readonly name: string;
      readonly description?: unknown;
      readonly schema?: unknown;
      /** What is known of a tool that the provider defines. */
      readonly own?: { readonly schema: JsonSchema; readonly traits: ToolTraits };
    }
  | undefined;

/** Wraps tools for one of OpenAI's two APIs, by the form of the list. */
export function wrapOpenAITools(
  context: WrapContext,
  tools: readonly unknown[],
  handlers: ToolHandlers,
  traits?: Traits,
): ProviderAdapter<never, OpenAIChatMessage | OpenAIResponsesItem> {
  const isChat = Array.isArray(tools) && tools.some((tool) => isObject(tool) && isObject(tool["function"]));
  const list = { method: "openai", tools, handlers, traits: traits ?? {} };
  if (isChat) return wrapDeclared(context, { ...list, read: readChat, wire: OPENAI_CHAT });
  return wrapDeclared(context, { ...list, read: readResponses, wire: OPENAI_RESPONSES });
}

/** Wraps tools for Anthropic's Messages API. */
export function wrapAnthropicTools(
  context: WrapContext,
  tools: readonly unknown[],
  handlers: ToolHandlers,
  traits: Traits = {},
): ProviderAdapter<never, AnthropicMessage> {
  return wrapDeclared(context, { method: "anthropic", tools, handlers, traits, read: readAnthropic, wire: ANTHROPIC_MESSAGES });
}

function readChat({ function: declared }: Readonly<Record<string, unknown>>): ReadDeclaration {
  const { name, description, parameters } = isObject(declared) ? declared : {};
  return typeof name === "string" ? { name, description, schema: parameters ?? NO_INPUT } : undefined;
}

function readResponses({ type, name, description, parameters }: Readonly<Record<string, unknown>>): ReadDeclaration {
  return type === "function" && typeof name === "string" ? { name, description, schema: parameters ?? NO_INPUT } : undefined;
}

/** Anthropic's own client tools (`bash_…`, `text_editor_…`) have a type and a name, and no schema. */
function readAnthropic({ type, name, description, input_schema: schema }: Readonly<Record<string, unknown>>): ReadDeclaration {
  if (typeof name !== "string") return undefined;
  const isShell = schema === undefined && typeof type === "string" && type.startsWith("bash_");
  return { name, description, schema, ...(isShell && { own: { schema: COMMAND, traits: { kind: "execute" } } as const }) };
}

const COMMAND: JsonSchema = { type: "object", properties: { command: { type: "string" }, restart: { type: "boolean" } } };

const NO_INPUT: JsonSchema = { type: "object", properties: {} };

type DeclaredTools<Message> = {
  readonly method: string;
  readonly tools: readonly unknown[];
  readonly handlers: ToolHandlers;
  readonly traits: Traits;
  readonly read: (declared: Readonly<Record<string, unknown>>) => ReadDeclaration;
  readonly wire: Wire<unknown, Message>;
};

/** The model sees the declarations as they are. Tools that a rule denies entirely are left out. */
function wrapDeclared<Message>(
  context: WrapContext,
  { method, tools, handlers, traits, read, wire }: DeclaredTools<Message>,
): ProviderAdapter<never, Message> {
  if (!Array.isArray(tools) || !isObject(handlers))
    throw new GateUsageError(
      "bad_tool",
      `gate.${method} takes a list of tools and an object of handlers: gate.${method}(tools, { name: (input) => … }).`,
    );
  const byName = new Map<string, unknown>();
  const atProvider: unknown[] = [];
  const governed: Tool[] = [];
  for (const declared of tools as readonly unknown[]) {
    const tool = isObject(declared) ? read(declared) : undefined;
    const run = tool && Object.hasOwn(handlers, tool.name) ? handlers[tool.name] : undefined;
    if (tool && run === undefined && tool.schema !== undefined)
      throw new GateUsageError(
        "bad_tool",
        `Tool '${tool.name}' has no handler. Add it: gate.${method}(tools, { ${tool.name}: (input) => … }).`,
      );
    if (!tool || run === undefined) {
      atProvider.push(declared); // the provider runs it, and the gate never sees its calls
      continue;
    }
    if (typeof run !== "function") throw new GateUsageError("bad_tool", `The handler of tool '${tool.name}' must be a function.`);
    byName.set(tool.name, declared);
    governed.push(
      governTool({
        name: tool.name,
        description: tool.description,
        input: readToolSchema(tool.name, tool.schema ?? tool.own?.schema ?? { type: "object" }),
        traits: traitsDefinition(tool.name, { ...tool.own?.traits, ...entryOf(traits, tool.name) }),
        run: run as (input: unknown, ctx: RunContext) => unknown,
      }),
    );
  }
  const unknown = Object.keys(handlers).find((name) => !byName.has(name));
  if (unknown !== undefined)
    throw new GateUsageError("bad_tool", `There is a handler for a tool '${unknown}', but no such tool is declared.`);
  checkTraitNames([...byName.keys()], traits);
  context.put(governed);
  const adapter = makeAdapter(context.turns, { ...wire, declare: ({ name }: Tool) => name });
  return {
    ...adapter,
    // The declarations are the program's own.
    tools: () => [...adapter.tools().flatMap((name) => byName.get(name) ?? []), ...atProvider] as never[],
  };
}
