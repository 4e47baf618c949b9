import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart, LanguageModelV4Usage } from "@ai-sdk/provider";
import type { AssistantPart, Json, Usage } from "@assent/core";

/** One call as a model made it: its arguments as the text that came. */
export type AnsweredCall = { readonly id: string; readonly name: string; readonly arguments: string };

/** What a model answered, once it is whole. */
export type ModelAnswer = {
  readonly parts: readonly AssistantPart[];
  readonly calls: readonly AnsweredCall[];
  readonly text: string;
  readonly stop: string;
  /** The output was cut at the token limit. */
  readonly truncated: boolean;
  readonly usage: Usage | null;
  readonly model: string | null;
  readonly providerId: string | null;
};

/** What is heard while it comes. */
export type StreamDelta = { readonly type: "text" | "reasoning"; readonly delta: string };

/** Asks a model and collects its answer. A stream that breaks rejects; calls whose arguments did not arrive whole are not in any answer. */
export async function streamAnswer(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  heard: (delta: StreamDelta) => void,
): Promise<ModelAnswer> {
  const { stream } = await model.doStream(options);
  const into: Collected = { parts: [], calls: [], open: new Map(), finished: undefined, model: null, providerId: null };
  for await (const part of stream) take(into, part, heard);
  return conclude(into);
}

type Block = { readonly type: "text" | "reasoning"; text: string; provider: Json | undefined };
type Finish = Extract<LanguageModelV4StreamPart, { readonly type: "finish" }>;
type Collected = {
  readonly parts: AssistantPart[];
  readonly calls: AnsweredCall[];
  readonly open: Map<string, Block>;
  finished: Finish | undefined;
  model: string | null;
  providerId: string | null;
};

function take(into: Collected, part: LanguageModelV4StreamPart, heard: (delta: StreamDelta) => void): void {
  switch (part.type) {
    case "text-start":
    case "reasoning-start":
      into.open.set(part.id, { type: part.type === "text-start" ? "text" : "reasoning", text: "", provider: undefined });
      break;
    case "text-delta":
    case "reasoning-delta": {
      const block = into.open.get(part.id);
      if (block) block.text += part.delta;
      if (block) heard({ type: block.type, delta: part.delta });
      break;
    }
    case "text-end":
    case "reasoning-end":
      // Parsing: providers' metadata is JSON by their contract.
      settle(into, part.id, part.providerMetadata as Json | undefined);
      break;
    case "tool-call":
      addCall(into, part);
      break;
    case "response-metadata":
      into.model = part.modelId ?? null;
      into.providerId = part.id ?? null;
      break;
    case "finish":
      into.finished = part;
      break;
    case "error":
      throw part.error;
    default:
  }
}

function settle({ open, parts }: Collected, id: string, provider: Json | undefined): void {
  const block = open.get(id);
  open.delete(id);
  if (!block || (block.text === "" && provider === undefined)) return;
  const { type, text } = block;
  parts.push(type === "text" ? { type, text } : { type, text, ...(provider !== undefined && { provider }) });
}

/** What a provider ran itself is none of ours. */
function addCall({ calls, parts }: Collected, part: Extract<LanguageModelV4StreamPart, { readonly type: "tool-call" }>): void {
  const { toolCallId, toolName, input, providerExecuted } = part;
  if (providerExecuted) return;
  calls.push({ id: toolCallId, name: toolName, arguments: input });
  parts.push({ type: "call", call: toolCallId, tool: toolName, input });
}

function conclude(into: Collected): ModelAnswer {
  const { finished, parts, calls, model, providerId } = into;
  const reason = finished?.finishReason.unified;
  if (!finished || reason === "interrupted" || reason === "error") throw new Error("The model's answer ended before it was complete.");
  for (const id of [...into.open.keys()]) settle(into, id, undefined);
  return {
    parts,
    calls,
    text: parts.map((part) => (part.type === "text" ? part.text : "")).join(""),
    stop: reason ?? "other",
    truncated: reason === "length",
    usage: usageOf(finished.usage),
    model,
    providerId,
  };
}

function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage | null {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return null;
  return {
    inputTokens: inputTokens.total ?? 0,
    outputTokens: outputTokens.total ?? 0,
    ...(inputTokens.cacheRead !== undefined && { cachedInputTokens: inputTokens.cacheRead }),
  };
}
