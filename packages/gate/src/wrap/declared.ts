import { isObject, type JsonSchema, type RunContext, type Tool } from "@assent/core";
import { ANTHROPIC_MESSAGES, type AnthropicMessage } from "../adapters/anthropic.ts";
import { OPENAI_CHAT, OPENAI_RESPONSES, type OpenAIChatMessage, type OpenAIResponsesItem } from "../adapters/openai.ts";
import { makeAdapter, type ProviderAdapter, type Wire } from "../adapters/provider-adapter.ts";
import { GateUsageError } from "../gate-error.ts";
import { governTool, type WrapContext } from "./governed-tool.ts";
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

type OwnDeclaration = { readonly schema: JsonSchema; readonly traits: ToolTraits };

/** A declaration, read: its name, and its schema if the program declared one. */
type ReadDeclaration =
  | {
      readonly name: string;
      readonly description?: unknown;
      readonly schema?: unknown;
      /** What is known of a tool that the provider defines, and the program runs. */
      readonly own?: OwnDeclaration | undefined;
    }
  | undefined;

/** Wraps tools for one of OpenAI's two APIs, by the form of the list. */
export function wrapOpenAITools(
  context: WrapContext,
  tools: readonly unknown[],
  handlers: ToolHandlers,
  traits: Traits = {},
): ProviderAdapter<never, OpenAIChatMessage | OpenAIResponsesItem> {
  const isChat = Array.isArray(tools) && tools.some((tool) => isObject(tool) && isObject(tool["function"]));
  const list = { method: "openai", tools, handlers, traits };
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

function readChat({ type, function: declared }: Readonly<Record<string, unknown>>): ReadDeclaration {
  const { name, description, parameters } = isObject(declared) ? declared : {};
  if (typeof name === "string") return { name, description, schema: parameters ?? NO_INPUT };
  throw ungovernable(type); // this API has no tools that run at the provider
}

/** Tools of the Responses API that the program runs, and whose calls are not function calls. */
const UNGOVERNABLE: readonly unknown[] = [undefined, "custom", "local_shell", "apply_patch", "computer", "computer_use_preview"];

function readResponses({ type, name, description, parameters }: Readonly<Record<string, unknown>>): ReadDeclaration {
  if (UNGOVERNABLE.includes(type)) throw ungovernable(type);
  if (type !== "function") return undefined;
  if (typeof name !== "string") throw nameless("openai");
  return { name, description, schema: parameters ?? NO_INPUT };
}

function nameless(method: string): GateUsageError {
  return new GateUsageError("bad_tool", `gate.${method}: a tool in the list has no name.`);
}

function ungovernable(type: unknown): GateUsageError {
  const text = `gate.openai decides about tools of type 'function', not '${String(type)}'. Leave it out of the list, and handle its calls yourself.`;
  const mixed = "A tool has no 'function', as the others have. Declare all tools for Chat Completions, or all for Responses.";
  return new GateUsageError("bad_tool", type === "function" ? mixed : text);
}

/** Tools that Anthropic defines have a type and no schema. The program runs some of them, and the provider the others. */
function readAnthropic({ type, name, description, input_schema: schema }: Readonly<Record<string, unknown>>): ReadDeclaration {
  if (typeof name !== "string") {
    if (type === undefined || type === "custom" || type === "function") throw nameless("anthropic");
    return undefined;
  }
  if (typeof type !== "string" || type === "custom" || schema !== undefined) return { name, description, schema: schema ?? null };
  const [family = ""] = type.split("_20");
  return { name, description, own: CLIENT_TOOLS[family] };
}

/** Tools of Anthropic that the program runs. A type that is not listed here may run at the provider. */
const CLIENT_TOOLS: Readonly<Record<string, OwnDeclaration>> = {
  bash: {
    schema: { type: "object", properties: { command: { type: "string" }, restart: { type: "boolean" } } },
    traits: { kind: "execute" },
  },
  text_editor: { schema: { type: "object" }, traits: {} },
  computer: { schema: { type: "object" }, traits: {} },
  memory: { schema: { type: "object" }, traits: {} },
};

const ANY_INPUT: JsonSchema = { type: "object" };

const NO_INPUT: JsonSchema = { type: "object", properties: {} };

type DeclaredTools<Message> = {
  readonly method: string;
  readonly tools: readonly unknown[];
  readonly handlers: ToolHandlers;
  readonly traits: Traits;
  readonly read: (declared: Readonly<Record<string, unknown>>) => ReadDeclaration;
  readonly wire: Wire<unknown, Message>;
};

/** Declarations go to the provider as they are, so only a JSON Schema will do. */
function readDeclaredSchema(name: string, schema: unknown): JsonSchema {
  if (isObject(schema) && !("~standard" in schema)) return schema;
  throw new GateUsageError("bad_tool", `Tool '${name}' needs a JSON Schema of type object. With zod: z.toJSONSchema(schema).`);
}

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
  const list: readonly unknown[] = tools;
  const handled = (name: string): boolean => Object.hasOwn(handlers, name);
  checkTraitNames(list.flatMap((declared) => (isObject(declared) ? (read(declared)?.name ?? []) : [])).filter(handled), traits);
  const byName = new Map<string, unknown>();
  const atProvider: unknown[] = [];
  const governed: Tool[] = [];
  for (const [at, declared] of list.entries()) {
    if (!isObject(declared)) throw new GateUsageError("bad_tool", `gate.${method}: tools[${at}] is not a tool declaration.`);
    const tool = read(declared);
    const run = tool && handled(tool.name) ? handlers[tool.name] : undefined;
    if (tool && run === undefined && (tool.schema !== undefined || tool.own))
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
        input: readDeclaredSchema(tool.name, tool.schema === undefined ? (tool.own?.schema ?? ANY_INPUT) : tool.schema),
        traits: traitsDefinition(tool.name, tool.own ? { ...tool.own.traits, ...entryOf(traits, tool.name) } : entryOf(traits, tool.name)),
        run: run as (input: unknown, ctx: RunContext) => unknown,
      }),
    );
  }
  const unknown = Object.keys(handlers).find((name) => !byName.has(name));
  if (unknown !== undefined)
    throw new GateUsageError("bad_tool", `There is a handler for a tool '${unknown}', but no such tool is declared.`);
  context.put(governed);
  const adapter = makeAdapter(context.turns, { ...wire, declare: ({ name }: Tool) => name });
  return {
    ...adapter,
    // The declarations are the program's own.
    tools: () => [...adapter.tools().flatMap((name) => byName.get(name) ?? []), ...atProvider] as never[],
  };
}
