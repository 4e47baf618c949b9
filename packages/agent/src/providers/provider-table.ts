import type { LanguageModelV4 } from "@ai-sdk/provider";
import { isObject } from "@assent/core";

/** Everything a model needs, so that no package reads the environment by itself. */
export type ModelOptions = {
  readonly name: string;
  /** Empty if the server needs none. */
  readonly apiKey: string;
  readonly baseURL: string;
  readonly fetch?: typeof globalThis.fetch;
};

/** A provider: its package, where its key and address come from, and how to create a model. */
export type ProviderRow = {
  readonly package: string;
  readonly version: string;
  /** The first variable that is set holds the key. */
  readonly keys: readonly string[];
  readonly keyless: boolean;
  readonly baseVariable: string;
  /** Undefined if there is no default address. */
  readonly base: string | undefined;
  readonly make: (making: ModelOptions) => Promise<LanguageModelV4>;
};

const COMPATIBLE = { package: "@ai-sdk/openai-compatible", version: "3.0.90" } as const;

/** The providers, by the prefix of a model id. */
export const PROVIDERS: Readonly<Record<string, ProviderRow>> = {
  anthropic: {
    package: "@ai-sdk/anthropic",
    version: "4.0.102",
    keys: ["ANTHROPIC_API_KEY"],
    keyless: false,
    baseVariable: "ANTHROPIC_BASE_URL",
    base: "https://api.anthropic.com/v1",
    make: async ({ name, ...rest }) => (await import("@ai-sdk/anthropic")).createAnthropic(rest)(name),
  },
  openai: {
    package: "@ai-sdk/openai",
    version: "4.0.114",
    keys: ["OPENAI_API_KEY"],
    keyless: false,
    baseVariable: "OPENAI_BASE_URL",
    base: "https://api.openai.com/v1",
    make: async ({ name, ...rest }) => (await import("@ai-sdk/openai")).createOpenAI(rest).responses(name),
  },
  google: {
    package: "@ai-sdk/google",
    version: "4.0.117",
    keys: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
    keyless: false,
    baseVariable: "GOOGLE_GENERATIVE_AI_BASE_URL",
    base: "https://generativelanguage.googleapis.com/v1beta",
    make: async ({ name, ...rest }) => (await import("@ai-sdk/google")).createGoogle(rest)(name),
  },
  openrouter: {
    ...COMPATIBLE,
    keys: ["OPENROUTER_API_KEY"],
    keyless: false,
    baseVariable: "OPENROUTER_BASE_URL",
    base: "https://openrouter.ai/api/v1",
    make: compatible("openrouter"),
  },
  ollama: {
    ...COMPATIBLE,
    keys: ["OLLAMA_API_KEY"],
    keyless: true,
    baseVariable: "OLLAMA_BASE_URL",
    base: "http://127.0.0.1:11434/v1",
    make: compatible("ollama"),
  },
  lmstudio: {
    ...COMPATIBLE,
    keys: ["LMSTUDIO_API_KEY"],
    keyless: true,
    baseVariable: "LMSTUDIO_BASE_URL",
    base: "http://127.0.0.1:1234/v1",
    make: compatible("lmstudio"),
  },
  vllm: {
    ...COMPATIBLE,
    keys: ["VLLM_API_KEY"],
    keyless: true,
    baseVariable: "VLLM_BASE_URL",
    base: "http://127.0.0.1:8000/v1",
    make: compatible("vllm"),
  },
  "openai-compatible": {
    ...COMPATIBLE,
    keys: ["OPENAI_COMPATIBLE_API_KEY"],
    keyless: true,
    baseVariable: "OPENAI_COMPATIBLE_BASE_URL",
    base: undefined,
    make: compatible("openaiCompatible"),
  },
};

/** A server with the Chat Completions API. */
function compatible(provider: string): ProviderRow["make"] {
  return async ({ name, ...rest }) => {
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    return createOpenAICompatible({
      ...rest,
      name: provider,
      includeUsage: true,
      supportsMultiPartToolContent: true,
      transformRequestBody: attachToolFiles,
    })(name);
  };
}

type Body = Record<string, unknown>;

/** Moves files of tool results into a user message after the results, because Chat Completions accept only text in results. */
function attachToolFiles(body: Body): Body {
  const { messages } = body;
  if (!Array.isArray(messages) || !messages.some(hasParts)) return body;
  const sent: unknown[] = [];
  let files: unknown[] = [];
  for (const message of messages) {
    if (!isObject(message) || message["role"] !== "tool") {
      if (files.length > 0) sent.push({ role: "user", content: files });
      files = [];
      sent.push(message);
      continue;
    }
    const { text, rest } = apart(message["content"]);
    sent.push({ ...message, content: text });
    files.push(...rest);
  }
  if (files.length > 0) sent.push({ role: "user", content: files });
  return { ...body, messages: sent };
}

function hasParts(message: unknown): boolean {
  return isObject(message) && message["role"] === "tool" && Array.isArray(message["content"]);
}

function apart(content: unknown): { readonly text: unknown; readonly rest: readonly unknown[] } {
  if (!Array.isArray(content)) return { text: content, rest: [] };
  const texts = content.flatMap((part) => (isObject(part) && part["type"] === "text" ? [String(part["text"])] : []));
  return { text: texts.join("\n"), rest: content.filter((part) => !isObject(part) || part["type"] !== "text") };
}
