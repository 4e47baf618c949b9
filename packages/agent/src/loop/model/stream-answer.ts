import {
  APICallError,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4StreamPart,
  type LanguageModelV4Usage,
  type SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import { type AssistantPart, isObject, type Json, type Usage } from "@assent/core";
import { createStreamEmitter, type StreamEmitter, type StreamEvent } from "./stream-events.ts";

export type ModelCall = { readonly id: string; readonly name: string; readonly arguments: string };

/** A part of an answer, with data that its provider needs back, such as signatures. */
export type AnswerPart = AssistantPart & { readonly provider?: Json };

/** An answer of the model, whole or partial. */
export type ModelAnswer = {
  readonly parts: readonly AnswerPart[];
  readonly calls: readonly ModelCall[];
  readonly text: string;
  /** Why it ended; `aborted` or `error` if it broke off. */
  readonly stop: string;
  readonly truncated: boolean;
  readonly usage: Usage | null;
  readonly model: string | null;
  readonly providerId: string | null;
};

type BrokenAnswerDetails = { readonly calls: number; readonly partial?: ModelAnswer };

export class BrokenAnswer extends Error {
  readonly calls: number;
  readonly partial: ModelAnswer | undefined;
  constructor(cause: unknown, { calls, partial }: BrokenAnswerDetails) {
    super(messageOf(cause), { cause });
    this.name = "BrokenAnswer";
    this.calls = calls;
    this.partial = partial;
  }
}

/** A successful response that is not an event stream: the server is not a model server. Retrying does not help. */
export class NotAStream extends Error {
  readonly isRetryable = false;
  constructor(mediaType: string, cause: unknown) {
    super(`The answer is ${mediaType}, which is no event stream.`, { cause });
    this.name = "NotAStream";
  }
}

/** Providers report failures inside a stream as errors or bare objects, and a lost connection as a success that could not be processed. */
function messageOf(cause: unknown): string {
  if (APICallError.isInstance(cause) && cause.statusCode === 200) return `The connection to the model was lost${because(cause.cause)}.`;
  const message = isObject(cause) ? cause["message"] : cause;
  return typeof message === "string" && message !== "" ? message : "The model's answer broke off.";
}

function because(cause: unknown): string {
  return cause instanceof Error && cause.message !== "" ? ` (${cause.message})` : "";
}

/** Sends a request and collects the answer. Rejects with the provider's error, or a `BrokenAnswer` with what arrived. */
export async function streamAnswer(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  emit: ((event: StreamEvent) => void) | undefined,
): Promise<ModelAnswer> {
  const { stream, response } = await model.doStream(options);
  const collector = createCollector(emit && createStreamEmitter(emit));
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) collectPart(collector, next.value);
    const answer = finishAnswer(collector);
    collector.emitter?.end(answer.stop);
    return answer;
  } catch (failure) {
    const error = collector.entries.length === 0 ? explainEmptyStream(response?.headers, failure) : failure;
    await reader.cancel(error).catch(() => undefined); // tells the provider that the rest is not needed
    const stop = options.abortSignal?.aborted ? "aborted" : "error";
    collector.emitter?.end(stop);
    const arrived = withoutCutCalls(collector);
    throw new BrokenAnswer(error, { calls: arrived.calls.length, partial: buildAnswer(arrived, stop) });
  }
}

/** Drops calls with incomplete arguments, which some providers report as complete. */
function withoutCutCalls(collector: AnswerCollector): AnswerCollector {
  const isWhole = (input: unknown): boolean => typeof input !== "string" || input.trim() === "" || isJson(input);
  return {
    ...collector,
    entries: collector.entries.filter((entry) => entry.type !== "call" || isWhole(entry.input)),
    calls: collector.calls.filter((call) => isWhole(call.arguments)),
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Applies only if nothing arrived, because some servers stream with another content type. */
function explainEmptyStream(headers: Readonly<Record<string, string>> | undefined, failure: unknown): unknown {
  const mediaType = headers?.["content-type"]?.split(";")[0]?.trim() ?? "";
  return mediaType === "" || mediaType === "text/event-stream" ? failure : new NotAStream(mediaType, failure);
}

type Block = { readonly type: "text" | "reasoning"; text: string; provider: SharedV4ProviderMetadata | undefined };
type CallEntry = Extract<AnswerPart, { readonly type: "call" }>;
type FinishPart = Extract<LanguageModelV4StreamPart, { readonly type: "finish" }>;
type AnswerCollector = {
  /** In the order in which they started. Some providers end a text after the calls that follow it. */
  readonly entries: (Block | CallEntry)[];
  readonly calls: ModelCall[];
  readonly open: Map<string, Block>;
  finished: FinishPart | undefined;
  model: string | null;
  providerId: string | null;
  readonly emitter: StreamEmitter | undefined;
};

function createCollector(emitter: StreamEmitter | undefined): AnswerCollector {
  return { entries: [], calls: [], open: new Map(), finished: undefined, model: null, providerId: null, emitter };
}

function collectPart(collector: AnswerCollector, part: LanguageModelV4StreamPart): void {
  switch (part.type) {
    case "text-start":
    case "reasoning-start":
      startBlock(collector, part);
      break;
    case "text-delta":
    case "reasoning-delta":
      appendDelta(collector, part);
      break;
    case "text-end":
    case "reasoning-end":
      mergeMetadata(collector.open.get(part.id), part.providerMetadata);
      collector.open.delete(part.id);
      collector.emitter?.stop(part.id);
      break;
    case "tool-input-start":
    case "tool-input-delta":
    case "tool-input-end":
      if (collector.emitter) emitInput(collector.emitter, part);
      break;
    case "tool-call":
      addCall(collector, part);
      break;
    case "response-metadata":
      collector.model = part.modelId?.toWellFormed() ?? collector.model;
      collector.providerId = part.id?.toWellFormed() ?? collector.providerId;
      break;
    case "finish":
      collector.finished = part;
      break;
    case "error":
      throw part.error;
    default:
  }
}

type StartPart = Extract<LanguageModelV4StreamPart, { readonly type: "text-start" | "reasoning-start" }>;
type DeltaPart = Extract<LanguageModelV4StreamPart, { readonly type: "text-delta" | "reasoning-delta" }>;

function startBlock({ open, entries, emitter }: AnswerCollector, { type, id, providerMetadata }: StartPart): void {
  const block: Block = { type: type === "text-start" ? "text" : "reasoning", text: "", provider: providerMetadata };
  open.set(id, block);
  entries.push(block);
  emitter?.stop(id); // a restarted block ends the one before
  emitter?.start(id, { type: block.type });
}

function appendDelta(collector: AnswerCollector, { id, delta, providerMetadata }: DeltaPart): void {
  const block = collector.open.get(id);
  if (!block) return;
  mergeMetadata(block, providerMetadata);
  if (delta === "") return;
  block.text += delta;
  collector.emitter?.delta(id, { type: block.type, delta });
}

type InputPart = Extract<LanguageModelV4StreamPart, { readonly type: "tool-input-start" | "tool-input-delta" | "tool-input-end" }>;

/** Streams arguments as they arrive. The complete call follows later. */
function emitInput(emitter: StreamEmitter, part: InputPart): void {
  const key = callKey(part.id);
  if (part.type === "tool-input-delta") emitter.delta(key, { type: "input", delta: part.delta });
  else if (part.type === "tool-input-start" && !part.providerExecuted)
    emitter.start(key, { type: "call", id: part.id, tool: part.toolName });
}

/** Texts and calls may have the same ids. */
function callKey(id: string): string {
  return `call ${id}`;
}

/** A signature may arrive with any event of its block; later values win. */
function mergeMetadata(block: Block | undefined, more: SharedV4ProviderMetadata | undefined): void {
  if (!block || !more) return;
  const merged: SharedV4ProviderMetadata = { ...block.provider };
  for (const [provider, values] of Object.entries(more)) merged[provider] = { ...merged[provider], ...values };
  block.provider = merged;
}

type CallPart = Extract<LanguageModelV4StreamPart, { readonly type: "tool-call" }>;

/** Skips tools the provider ran itself. */
function addCall({ entries, calls, emitter }: AnswerCollector, part: CallPart): void {
  if (part.providerExecuted) return;
  if (emitter) emitCall(emitter, part);
  const id = part.toolCallId.toWellFormed();
  const name = part.toolName.toWellFormed();
  const input = part.input.toWellFormed();
  const provider = part.providerMetadata && metadataJson(part.providerMetadata);
  calls.push({ id, name, arguments: input });
  entries.push(
    provider === undefined ? { type: "call", call: id, tool: name, input } : { type: "call", call: id, tool: name, input, provider },
  );
}

function emitCall(emitter: StreamEmitter, { toolCallId, toolName, input }: CallPart): void {
  const key = callKey(toolCallId);
  if (emitter.start(key, { type: "call", id: toolCallId, tool: toolName })) emitter.delta(key, { type: "input", delta: input });
  emitter.stop(key);
}

/** Finish reasons that mean failure but that the AI SDK does not know (OpenRouter, GLM, DeepSeek, Gemini). */
const FAILED_ENDS = /^(?:error|network_error|insufficient_system_resource|unexpected_tool_call)$/i;

function finishAnswer(collector: AnswerCollector): ModelAnswer {
  const { unified: reason, raw } = collector.finished?.finishReason ?? {};
  const isFailure = reason === "interrupted" || reason === "error" || (reason === "other" && FAILED_ENDS.test(raw ?? ""));
  if (!collector.finished || isFailure)
    throw new Error(`The model's answer ended before it was complete${raw === undefined ? "" : ` (${raw})`}.`);
  return buildAnswer(collector, reason ?? "other");
}

function buildAnswer(collector: AnswerCollector, stop: string): ModelAnswer {
  const { entries, calls, finished, model, providerId } = collector;
  const parts: AnswerPart[] = [];
  let text = "";
  for (const entry of entries) {
    const part = entry.type === "call" ? entry : blockPart(entry);
    if (part) parts.push(part);
    if (part?.type === "text") text += part.text;
  }
  const usage = finished ? readUsage(finished.usage) : null;
  return { parts: parts.slice(), calls, text, stop, truncated: stop === "length", usage, model, providerId };
}

/** Drops empty text, which some providers refuse. Empty reasoning may carry a signature. */
function blockPart({ type, text: came, provider: given }: Block): AnswerPart | undefined {
  const provider = given && metadataJson(given);
  const text = came.toWellFormed(); // only the whole text: a surrogate pair may be split
  if (text === "" && (type === "text" || provider === undefined)) return undefined;
  return provider === undefined ? { type, text } : { type, text, provider };
}

/** Converts provider data to JSON without undefined values. */
function metadataJson(metadata: SharedV4ProviderMetadata): Json | undefined {
  const value = JSON.parse(JSON.stringify(metadata), (_key, inner) => (typeof inner === "string" ? inner.toWellFormed() : inner)) as Json;
  return isObject(value) && Object.values(value).some((own) => isObject(own) && Object.keys(own).length > 0) ? value : undefined;
}

function readUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage | null {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return null;
  return {
    inputTokens: inputTokens.total ?? 0,
    outputTokens: outputTokens.total ?? 0,
    ...(inputTokens.cacheRead !== undefined && { cachedInputTokens: inputTokens.cacheRead }),
  };
}
