import type { LanguageModelV4ToolResultPart } from "@ai-sdk/provider";
import { isObject, type ProposedCall, type Tool } from "@assent/core";
import { toolMessage } from "../loop/history/messages.ts";
import { listOfferedTools } from "../loop/model/request.ts";
import { dispatchTurn, type EmbeddedCall, type Embedding, type RunStop, resumeTurn } from "./embedding.ts";

type ModelOutput = LanguageModelV4ToolResultPart["output"];

/** What `ai` calls a schema: its own kind by a well-known symbol, a Standard Schema by type. It shows, and lets everything through. */
type ShownSchema = {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => { readonly value: unknown };
  };
};

/** What `ai` says about an execution, as far as it is read here. */
export type AiToolCallOptions = {
  readonly toolCallId: string;
  readonly messages: readonly { readonly role: string }[];
  readonly abortSignal?: AbortSignal | undefined;
};

/** A tool as `streamText` and `generateText` of `ai` take it. */
export type AiTool = {
  readonly description: string;
  readonly inputSchema: ShownSchema;
  readonly execute: (input: unknown, execution: AiToolCallOptions) => Promise<LoneEnd>;
  readonly toModelOutput: (given: { readonly output: LoneEnd }) => ModelOutput;
};

/**
 * The tools of a registry for a loop of `ai`. Executions go through the dispatcher, those of one step as one batch, and never throw for what a
 * person, policy or tool does: what is not a success reaches the model as an error's text.
 */
export function aiTools(embedding: Embedding): Record<string, AiTool> {
  const gather = gatherCalls(embedding);
  return Object.fromEntries(
    embeddedTools(embedding).map((tool) => [
      tool.name,
      {
        description: tool.description,
        inputSchema: shownSchema(tool),
        execute: (input, { toolCallId, messages, abortSignal }) => {
          const call = { id: toolCallId, name: tool.name, arguments: input };
          return gather({ call, signal: abortSignal, newPrompt: messages.at(-1)?.role === "user" });
        },
        toModelOutput: ({ output }) => modelOutput(output),
      } satisfies AiTool,
    ]),
  );
}

/** The set is made once, before anything is staged: `resolve` belongs to it wherever it is registered. */
function embeddedTools(embedding: Embedding): readonly Tool[] {
  const offered = listOfferedTools(embedding.tools, embedding);
  const resolve = embedding.tools.get("resolve");
  return resolve && !offered.includes(resolve) && !embedding.dispatcher.denies(resolve) ? [...offered, resolve] : offered;
}

/** Validation is the dispatcher's, which tells the model what is wrong in its own words and keeps a record of it. */
function shownSchema({ inputSchema }: Tool): ShownSchema {
  return {
    "~standard": { version: 1, vendor: "assent", validate: (value) => ({ value }) },
    ...{ [Symbol.for("vercel.ai.schema")]: true, jsonSchema: inputSchema, validate: undefined },
  };
}

/** As the own loop tells it; a result that is still to come carries the mark by which it is found again. */
function modelOutput(end: EmbeddedCall): ModelOutput {
  const { callId, tool, outcome, type, content } = end;
  const message = toolMessage([{ callId, tool, outcome, type, content }]);
  const part = message.role === "tool" ? message.content[0] : undefined;
  const output: ModelOutput = part?.type === "tool-result" ? part.output : { type: "error-text", value: "" };
  if (outcome !== "waiting" || output.type !== "error-text") return output;
  return { ...output, providerOptions: { assent: { waiting: callId } } };
}

/** The steps of a run of `ai`, as far as they are read here. */
type Steps = readonly { readonly toolResults: readonly { readonly output?: unknown }[] }[];

/** Why the run must not go on after these steps; undefined: it may. */
export function findRunStop(steps: Steps): RunStop | undefined {
  for (const { output } of steps.at(-1)?.toolResults ?? []) {
    const stop = isObject(output) ? output["stop"] : undefined;
    // Parsing: only `aiTools` gives outputs with a `stop`.
    if (isObject(stop)) return stop as RunStop;
  }
  return undefined;
}

/** A condition for `stopWhen`: ends the loop of `ai` when a call waits for a person, or when the run was ended. */
export function isRunStopped({ steps }: { readonly steps: Steps }): boolean {
  return findRunStop(steps) !== undefined;
}

/** Messages of `ai`, with a result for every call that waited; `stop` while one still does. */
export type ResumedMessages<M> = { readonly messages: M[]; readonly stop?: RunStop };

/** Goes on with the calls that wait in these messages, also in another process, and puts their results where `ai` wants them. */
export async function resumeAiTools<M extends { readonly role: string; readonly content: unknown }>(
  embedding: Embedding,
  messages: readonly M[],
  signal: AbortSignal,
): Promise<ResumedMessages<M>> {
  const { calls, stop } = await resumeTurn(embedding, messages.flatMap(waitingCalls), signal);
  const byId = new Map(calls.map((call) => [call.callId, call]));
  const placed = messages.map((message) => {
    if (!Array.isArray(message.content)) return message;
    // Parsing: the same message, with outputs of the same type in some of its parts.
    return { ...message, content: message.content.map((part: unknown) => withOutput(part, byId)) } as M;
  });
  return stop ? { messages: placed, stop } : { messages: placed };
}

function waitingCalls({ content }: { readonly content: unknown }): readonly EmbeddedCall[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown) => {
    const callId = waitingCall(part);
    if (callId === undefined || !isObject(part)) return [];
    const { toolCallId: id, toolName: tool } = part;
    return [{ id: String(id), callId, tool: String(tool), outcome: "waiting", type: "waiting", content: "" }];
  });
}

/** The id under which a result is on its way. */
function waitingCall(part: unknown): string | undefined {
  const output = isObject(part) && part["type"] === "tool-result" ? part["output"] : undefined;
  const options = isObject(output) ? output["providerOptions"] : undefined;
  const mark = isObject(options) ? options["assent"] : undefined;
  const waiting = isObject(mark) ? mark["waiting"] : undefined;
  return typeof waiting === "string" ? waiting : undefined;
}

function withOutput(part: unknown, calls: ReadonlyMap<string, EmbeddedCall>): unknown {
  const waiting = waitingCall(part);
  const call = waiting === undefined ? undefined : calls.get(waiting);
  return call && isObject(part) ? { ...part, output: modelOutput(call) } : part;
}

/** One call of a loop that runs each call by itself. */
export type LoneCall = { readonly call: ProposedCall; readonly signal: AbortSignal | undefined; readonly newPrompt: boolean };

/** What came of it, and whether the loop may go on. */
export type LoneEnd = EmbeddedCall & { readonly stop?: RunStop };

type Gathered = LoneCall & { readonly resolve: (end: LoneEnd) => void; readonly reject: (error: unknown) => void };

/**
 * Makes one batch of the calls that come in one turn of the event loop, so that order and lanes hold among them.
 * Calls with different signals are batches of their own, one after the other: a cancel must reach exactly its calls.
 */
export function gatherCalls(embedding: Embedding): (lone: LoneCall) => Promise<LoneEnd> {
  let gathered: Gathered[] = [];
  const flush = (): void => {
    const calls = gathered;
    gathered = [];
    for (const batch of bySignal(calls)) void dispatchGathered(embedding, batch);
  };
  return (lone) =>
    new Promise((resolve, reject) => {
      if (gathered.length === 0) setImmediate(flush);
      gathered.push({ ...lone, resolve, reject });
    });
}

function bySignal(calls: readonly Gathered[]): readonly (readonly Gathered[])[] {
  const batches: Gathered[][] = [];
  for (const call of calls) {
    const last = batches.at(-1);
    if (last && last[0]?.signal === call.signal) last.push(call);
    else batches.push([call]);
  }
  return batches;
}

async function dispatchGathered(embedding: Embedding, batch: readonly Gathered[]): Promise<void> {
  try {
    const signal = batch[0]?.signal ?? new AbortController().signal;
    const newPrompt = batch.some((one) => one.newPrompt);
    const { calls, stop } = await dispatchTurn(
      embedding,
      batch.map(({ call }) => call),
      { signal, newPrompt },
    );
    for (const [at, { resolve, reject }] of batch.entries()) {
      const call = calls[at];
      if (call) resolve(stop ? { ...call, stop } : call);
      else reject(new Error("the dispatcher gave no result for this call"));
    }
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}
