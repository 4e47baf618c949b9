import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type { Tool } from "@assent/core";
import type { Choice } from "@assent/core/parts";
import type { Capability } from "../../script/script.ts";

export type RequestParts = {
  readonly messages: LanguageModelV4Message[];
  readonly system: string;
  readonly tools: readonly Tool[];
  readonly choice: Choice | undefined;
  readonly capability: Capability;
  readonly signal: AbortSignal;
};

/** Builds the request of one turn. The history is passed unchanged, because providers cache a stable beginning. */
export function buildRequest({ messages, system, tools, choice, capability, signal }: RequestParts): LanguageModelV4CallOptions {
  if (messages[0]?.role !== "system") messages.unshift({ role: "system", content: system });
  const { offered, toolChoice } = offerTools(tools, choice, capability);
  const request: LanguageModelV4CallOptions = { prompt: messages, abortSignal: signal, providerOptions: PROVIDER_OPTIONS };
  if (offered.length > 0) request.tools = declarations(offered);
  if (offered.length > 0 && toolChoice) request.toolChoice = toolChoice;
  return request;
}

/** Options for every request; each provider reads its own. Anthropic caches only on request. OpenAI must not store anything. */
const PROVIDER_OPTIONS: SharedV4ProviderOptions = { anthropic: { cacheControl: { type: "ephemeral" } }, openai: { store: false } };

type ToolOffer = { readonly offered: readonly Tool[]; readonly toolChoice: LanguageModelV4CallOptions["toolChoice"] };

/** Where a tool cannot be named, it is the only one offered. Where nothing can be forced, only the reminder steers. */
function offerTools(tools: readonly Tool[], choice: Choice | undefined, capability: Capability): ToolOffer {
  if (choice === undefined || choice === "auto") return { offered: tools, toolChoice: undefined };
  if (choice === "none") return { offered: tools, toolChoice: { type: "none" } };
  if (capability === "auto") return { offered: tools, toolChoice: undefined };
  if (choice === "required") return { offered: tools, toolChoice: { type: "required" } };
  if (capability === "named") return { offered: tools, toolChoice: { type: "tool", toolName: choice.tool } };
  return { offered: tools.filter(({ name }) => name === choice.tool), toolChoice: { type: "required" } };
}

const DECLARATIONS = new WeakMap<readonly Tool[], LanguageModelV4FunctionTool[]>();

function declarations(tools: readonly Tool[]): LanguageModelV4FunctionTool[] {
  const known = DECLARATIONS.get(tools);
  if (known) return known;
  const made = tools.map(declaration);
  DECLARATIONS.set(tools, made);
  return made;
}

function declaration(tool: Tool): LanguageModelV4FunctionTool {
  const { name, description, inputSchema } = tool;
  // `defineTool` accepts only schemas of objects.
  return { type: "function", name, description, inputSchema: inputSchema as LanguageModelV4FunctionTool["inputSchema"] };
}
