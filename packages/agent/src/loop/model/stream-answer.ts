import {
  APICallError,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4StreamPart,
  type LanguageModelV4Usage,
  type SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import { type AssistantPart, isObject, type Json, type Usage } from "@assent/core";
import { type StreamEvent, type StreamTeller, tellStream } from "./stream-events.ts";

/** One call as a model made it: its arguments as the text that came. */
export type AnsweredCall = { readonly id: string; readonly name: string; readonly arguments: string };

/** One part of an answer, with what its provider wants to see again beside it: signatures, ids of its own. */
export type AnswerPart = AssistantPart & { readonly provider?: Json };

/** What a model answered: whole, or as far as it came. */
export type ModelAnswer = {
  readonly parts: readonly AnswerPart[];
  readonly calls: readonly AnsweredCall[];
  readonly text: string;
  /** Why it ended; `aborted` or `error` where it broke off. */
  readonly stop: string;
  /** The output was cut at the token limit. */
  readonly truncated: boolean;
  readonly usage: Usage | null;
  readonly model: string | null;
  readonly providerId: string | null;
};

type Broken = { readonly calls: number; readonly heard: boolean; readonly partial?: ModelAnswer };

/** An answer that began and did not come to its end. What broke it is the cause. */
export class BrokenAnswer extends Error {
  /** Calls that had arrived whole. None of them was run. */
  readonly calls: number;
  /** Text or reasoning was heard of it. */
  readonly heard: boolean;
  /** What arrived of it. */
  readonly partial: ModelAnswer | undefined;
  constructor(cause: unknown, { calls, heard, partial }: Broken) {
    super(messageOf(cause), { cause });
    this.name = "BrokenAnswer";
    this.calls = calls;
    this.heard = heard;
    this.partial = partial;
  }
}

/** A success that is no event stream: something else than a model's server answers there. Asking again does not help. */
export class NoStream extends Error {
  readonly isRetryable = false;
  constructor(mediaType: string, cause: unknown) {
    super(`The answer is ${mediaType}, which is no event stream.`, { cause });
    this.name = "NoStream";
  }
}

/** Providers tell of failures inside a stream as errors or as bare objects; of a lost connection they say that a success could not be processed. */
function messageOf(cause: unknown): string {
  if (APICallError.isInstance(cause) && cause.statusCode === 200) return `The connection to the model was lost${because(cause.cause)}.`;
  const message = isObject(cause) ? cause["message"] : cause;
  return typeof message === "string" && message !== "" ? message : "The model's answer broke off.";
}

function because(cause: unknown): string {
  return cause instanceof Error && cause.message !== "" ? ` (${cause.message})` : "";
}

/**
 * Asks a model and collects its answer. A request that is refused rejects with the provider's error, a stream that breaks or is aborted with a `BrokenAnswer`
 * that holds what arrived; calls whose arguments did not arrive whole are not in any answer.
 */
export async function streamAnswer(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  heard: ((event: StreamEvent) => void) | undefined,
): Promise<ModelAnswer> {
  const { stream, response } = await model.doStream(options);
  const into = collecting(heard && tellStream(heard));
  const reader = stream.getReader(); // half the cost of iterating, and answers have many parts
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) take(into, next.value);
    const answer = conclude(into);
    into.teller?.end(answer.stop);
    return answer;
  } catch (failure) {
    const error = into.entries.length === 0 ? unstreamed(response?.headers, failure) : failure;
    await reader.cancel(error).catch(() => undefined); // what is not read to its end is given up, and its provider told so
    const stop = options.abortSignal?.aborted ? "aborted" : "error";
    into.teller?.end(stop);
    const arrived = withoutCutCalls(into);
    throw new BrokenAnswer(error, { calls: arrived.calls.length, heard: into.heard, partial: answerOf(arrived, stop) });
  }
}

/** Drops calls with incomplete arguments, which some providers report as complete. */
function withoutCutCalls(into: Collected): Collected {
  const isWhole = (input: unknown): boolean => typeof input !== "string" || input.trim() === "" || isJson(input);
  return {
    ...into,
    entries: into.entries.filter((entry) => entry.type !== "call" || isWhole(entry.input)),
    calls: into.calls.filter((call) => isWhole(call.arguments)),
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

/** Only where nothing came: some servers stream under another name. */
function unstreamed(headers: Readonly<Record<string, string>> | undefined, failure: unknown): unknown {
  const mediaType = headers?.["content-type"]?.split(";")[0]?.trim() ?? "";
  return mediaType === "" || mediaType === "text/event-stream" ? failure : new NoStream(mediaType, failure);
}

type Block = { readonly type: "text" | "reasoning"; text: string; provider: SharedV4ProviderMetadata | undefined };
type Call = Extract<AnswerPart, { readonly type: "call" }>;
type Finish = Extract<LanguageModelV4StreamPart, { readonly type: "finish" }>;
type Collected = {
  /** In the order in which they began: some providers end a text only after the calls that follow it. */
  readonly entries: (Block | Call)[];
  readonly calls: AnsweredCall[];
  readonly open: Map<string, Block>;
  heard: boolean;
  finished: Finish | undefined;
  model: string | null;
  providerId: string | null;
  /** Absent: nobody hears of it. */
  readonly teller: StreamTeller | undefined;
};

function collecting(teller: StreamTeller | undefined): Collected {
  return { entries: [], calls: [], open: new Map(), heard: false, finished: undefined, model: null, providerId: null, teller };
}

function take(into: Collected, part: LanguageModelV4StreamPart): void {
  switch (part.type) {
    case "text-start":
    case "reasoning-start":
      begin(into, part);
      break;
    case "text-delta":
    case "reasoning-delta":
      add(into, part);
      break;
    case "text-end":
    case "reasoning-end":
      learn(into.open.get(part.id), part.providerMetadata);
      into.open.delete(part.id);
      into.teller?.stop(part.id);
      break;
    case "tool-input-start":
    case "tool-input-delta":
    case "tool-input-end":
      if (into.teller) tellInput(into.teller, part);
      break;
    case "tool-call":
      addCall(into, part);
      break;
    case "response-metadata":
      into.model = part.modelId?.toWellFormed() ?? into.model;
      into.providerId = part.id?.toWellFormed() ?? into.providerId;
      break;
    case "finish":
      into.finished = part;
      break;
    case "error":
      throw part.error;
    default:
  }
}

type Start = Extract<LanguageModelV4StreamPart, { readonly type: "text-start" | "reasoning-start" }>;
type Delta = Extract<LanguageModelV4StreamPart, { readonly type: "text-delta" | "reasoning-delta" }>;

function begin({ open, entries, teller }: Collected, { type, id, providerMetadata }: Start): void {
  const block: Block = { type: type === "text-start" ? "text" : "reasoning", text: "", provider: providerMetadata };
  open.set(id, block);
  entries.push(block);
  teller?.stop(id); // a provider that begins the same block anew has ended the one before
  teller?.start(id, { type: block.type });
}

function add(into: Collected, { id, delta, providerMetadata }: Delta): void {
  const block = into.open.get(id);
  if (!block) return;
  learn(block, providerMetadata);
  if (delta === "") return;
  block.text += delta;
  into.heard = true;
  into.teller?.delta(id, { type: block.type, delta });
}

type InputPart = Extract<LanguageModelV4StreamPart, { readonly type: "tool-input-start" | "tool-input-delta" | "tool-input-end" }>;

/** Arguments are told as they come; what counts is the whole call that follows them. */
function tellInput(teller: StreamTeller, part: InputPart): void {
  const key = callKey(part.id);
  if (part.type === "tool-input-delta") teller.delta(key, { type: "input", delta: part.delta });
  else if (part.type === "tool-input-start" && !part.providerExecuted)
    teller.start(key, { type: "call", id: part.id, tool: part.toolName });
}

/** Texts and calls may have the same ids. */
function callKey(id: string): string {
  return `call ${id}`;
}

/** A signature may come with any event of its block; what comes later counts. */
function learn(block: Block | undefined, more: SharedV4ProviderMetadata | undefined): void {
  if (!block || !more) return;
  const merged: SharedV4ProviderMetadata = { ...block.provider };
  for (const [provider, values] of Object.entries(more)) merged[provider] = { ...merged[provider], ...values };
  block.provider = merged;
}

type CallPart = Extract<LanguageModelV4StreamPart, { readonly type: "tool-call" }>;

/** What a provider ran itself is none of ours. */
function addCall({ entries, calls, teller }: Collected, part: CallPart): void {
  if (part.providerExecuted) return;
  if (teller) tellCall(teller, part);
  const id = part.toolCallId.toWellFormed();
  const name = part.toolName.toWellFormed();
  const input = part.input.toWellFormed();
  const provider = part.providerMetadata && asJson(part.providerMetadata);
  calls.push({ id, name, arguments: input });
  entries.push(
    provider === undefined ? { type: "call", call: id, tool: name, input } : { type: "call", call: id, tool: name, input, provider },
  );
}

function tellCall(teller: StreamTeller, { toolCallId, toolName, input }: CallPart): void {
  const key = callKey(toolCallId);
  if (teller.start(key, { type: "call", id: toolCallId, tool: toolName })) teller.delta(key, { type: "input", delta: input });
  teller.stop(key);
}

/** Ends that name a failure and that the AI SDK does not know: of OpenRouter, GLM, DeepSeek and Gemini. */
const FAILED_ENDS = /^(?:error|network_error|insufficient_system_resource|unexpected_tool_call)$/i;

function conclude(into: Collected): ModelAnswer {
  const { unified: reason, raw } = into.finished?.finishReason ?? {};
  const isFailure = reason === "interrupted" || reason === "error" || (reason === "other" && FAILED_ENDS.test(raw ?? ""));
  if (!into.finished || isFailure)
    throw new Error(`The model's answer ended before it was complete${raw === undefined ? "" : ` (${raw})`}.`);
  return answerOf(into, reason ?? "other");
}

function answerOf(into: Collected, stop: string): ModelAnswer {
  const { entries, calls, finished, model, providerId } = into;
  const parts: AnswerPart[] = [];
  let text = "";
  for (const entry of entries) {
    const part = entry.type === "call" ? entry : blockPart(entry);
    if (part) parts.push(part);
    if (part?.type === "text") text += part.text;
  }
  const usage = finished ? usageOf(finished.usage) : null;
  // A list that was filled one by one has room for more; the record keeps this one.
  return { parts: parts.slice(), calls, text, stop, truncated: stop === "length", usage, model, providerId };
}

/** An empty text says nothing, and some providers refuse to be sent one; empty reasoning may carry a signature. */
function blockPart({ type, text: came, provider: given }: Block): AnswerPart | undefined {
  const provider = given && asJson(given);
  const text = came.toWellFormed(); // only the whole: a pair may have come in two pieces
  if (text === "" && (type === "text" || provider === undefined)) return undefined;
  return provider === undefined ? { type, text } : { type, text, provider };
}

/** Providers leave undefined what they do not know; what is stored is JSON. */
function asJson(metadata: SharedV4ProviderMetadata): Json | undefined {
  // Parsing: the result of a parse is JSON.
  const value = JSON.parse(JSON.stringify(metadata), (_key, inner) => (typeof inner === "string" ? inner.toWellFormed() : inner)) as Json;
  return isObject(value) && Object.values(value).some((own) => isObject(own) && Object.keys(own).length > 0) ? value : undefined;
}

function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage | null {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return null;
  return {
    inputTokens: inputTokens.total ?? 0,
    outputTokens: outputTokens.total ?? 0,
    ...(inputTokens.cacheRead !== undefined && { cachedInputTokens: inputTokens.cacheRead }),
  };
}
