import { APICallError, type LanguageModelV4Message } from "@ai-sdk/provider";
import type { Usage } from "@assent/core";

/** Estimates how full a model's context is: the last count of the provider, plus an estimate of newer messages. */
export type ContextUsage = {
  /** Takes the provider's count of a request and its answer. `length` is the length of the history with the answer. */
  readonly count: (usage: Usage | null, length: number) => void;
  readonly estimate: (messages: readonly LanguageModelV4Message[]) => number;
  readonly reset: () => void;
};

/** The part of a context that may fill before the history is compacted. */
export const COMPACT_ABOVE = 0.8;

const CHARACTERS_PER_TOKEN = 4;
const TOKENS_PER_FILE = 1_600;

export function createContextUsage(): ContextUsage {
  let tokens = 0;
  let seen = 0;
  return {
    count: (usage, length) => {
      if (!usage) return;
      tokens = usage.inputTokens + usage.outputTokens;
      seen = length;
    },
    estimate: (messages) => {
      for (; seen < messages.length; seen += 1) {
        const message = messages[seen];
        if (message) tokens += roughTokens(message);
      }
      return tokens;
    },
    reset: () => {
      tokens = 0;
      seen = 0;
    },
  };
}

function roughTokens({ content }: LanguageModelV4Message): number {
  if (typeof content === "string") return content.length / CHARACTERS_PER_TOKEN;
  let tokens = 0;
  for (const part of content) tokens += part.type === "file" ? TOKENS_PER_FILE : partLength(part) / CHARACTERS_PER_TOKEN;
  return tokens;
}

type Part = Exclude<LanguageModelV4Message["content"], string>[number];

function partLength(part: Part): number {
  if (part.type === "text" || part.type === "reasoning") return part.text.length;
  if (part.type === "tool-call") return jsonLength(part.input);
  if (part.type !== "tool-result") return 0;
  const { output } = part;
  if (output.type === "text" || output.type === "error-text") return output.value.length;
  if (output.type !== "content") return 0;
  return output.value.reduce((sum, item) => sum + (item.type === "text" ? item.text.length : TOKENS_PER_FILE * CHARACTERS_PER_TOKEN), 0);
}

function jsonLength(value: unknown): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 4;
  let length = 2;
  for (const key in value) length += jsonLength(Reflect.get(value, key)) + (Array.isArray(value) ? 1 : key.length + 4);
  return length;
}

const TOO_LONG =
  /context[_ ](?:length|window|size)|maximum context|(?:prompt|input|request) (?:is|was) too (?:long|large)|too many (?:input )?tokens|input token count|exceeds? the (?:maximum|available|model'?s?) (?:number of tokens|context|input)|reduce the length/i;

/** True if a provider refused a request because it is too long. */
export function refusesLength(error: unknown): boolean {
  if (!APICallError.isInstance(error) || ![400, 413, 422].includes(error.statusCode ?? 0)) return false;
  return error.statusCode === 413 || TOO_LONG.test(`${error.message} ${error.responseBody ?? ""}`);
}
