import { isObject, type JsonSchema, listOfferedTools, type Tool } from "@assent/core";
import { showContent } from "@assent/core/parts";
import { type EmbeddedCall, type Embedding, embeddedTurns, type RunStop, resumeTurn } from "./embedding.ts";
import { gatherCalls, type SingleCallResult } from "./gather-calls.ts";

/** What the model sees of a result, as `ai` encodes it. */
type ModelOutput =
  | {
      readonly type: "text" | "error-text";
      readonly value: string;
      readonly providerOptions?: { readonly assent: { readonly waiting: string } };
    }
  | { readonly type: "content"; readonly value: ModelPart[] };

type ModelPart =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "file";
      readonly mediaType: string;
      readonly data: { readonly type: "data"; readonly data: string };
      readonly filename?: string;
    };

/** A schema as `ai` accepts it. It describes the input and validates nothing: the dispatcher validates. */
type ShownSchema = {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => { readonly value: unknown };
  };
};

/** The options that `ai` passes to a tool call, as far as they are used here. */
export type AiToolCallOptions = {
  readonly toolCallId: string;
  readonly messages: readonly { readonly role: string }[];
  readonly abortSignal?: AbortSignal | undefined;
};

/** A tool for `streamText` and `generateText` of `ai`. */
export type AiTool = {
  readonly description: string;
  readonly inputSchema: ShownSchema;
  readonly execute: (input: unknown, execution: AiToolCallOptions) => Promise<SingleCallResult>;
  readonly toModelOutput: (given: { readonly output: SingleCallResult }) => ModelOutput;
};

/**
 * Wraps the tools of a registry for a loop of `ai`. Calls of one step run through the dispatcher as one batch. They never throw because of
 * a person, a rule or a tool: the model gets an error text instead.
 */
export function aiTools(embedding: Embedding): Record<string, AiTool> {
  const gather = gatherCalls(embeddedTurns(embedding));
  return Object.fromEntries(
    embeddedTools(embedding).map((tool) => [
      tool.name,
      {
        description: tool.description,
        inputSchema: shownSchema(tool.inputSchema),
        execute: (input, { toolCallId, messages, abortSignal }) => {
          const call = { id: toolCallId, name: tool.name, arguments: input };
          return gather({ call, signal: abortSignal, newPrompt: messages.at(-1)?.role === "user" });
        },
        toModelOutput: ({ output }) => modelOutput(output),
      } satisfies AiTool,
    ]),
  );
}

/** The set is fixed before anything is staged, so it includes `resolve` if that is registered. */
function embeddedTools(embedding: Embedding): readonly Tool[] {
  const offered = listOfferedTools(embedding.tools, embedding);
  const resolve = embedding.tools.get("resolve");
  return resolve && !offered.includes(resolve) && !embedding.dispatcher.denies(resolve) ? [...offered, resolve] : offered;
}

/** A schema for the SDK that does not validate. */
export function shownSchema(inputSchema: JsonSchema | undefined): ShownSchema {
  return {
    "~standard": { version: 1, vendor: "assent", validate: (value) => ({ value }) },
    ...{ [Symbol.for("vercel.ai.schema")]: true, jsonSchema: inputSchema, validate: undefined },
  };
}

/** The result as our own loop shows it. A result that is still to come carries the mark that `resumeAiTools` looks for. */
function modelOutput(end: EmbeddedCall): ModelOutput {
  const { callId, outcome, content } = end;
  const { text, files } = showContent(content);
  if (outcome === "waiting") return { type: "error-text", value: text, providerOptions: { assent: { waiting: callId } } };
  if (files.length === 0) return { type: outcome === "succeeded" ? "text" : "error-text", value: text };
  const shown = files.map(({ data, ...file }) => ({ ...file, data: { type: "data" as const, data } }));
  return { type: "content", value: [{ type: "text", text }, ...shown] };
}

/** The steps of a run of `ai`, as far as they are used here. */
type Steps = readonly { readonly toolResults: readonly { readonly output?: unknown }[] }[];

/** Why the run must stop after these steps; undefined if it may continue. */
export function findRunStop(steps: Steps): RunStop | undefined {
  for (const { output } of steps.at(-1)?.toolResults ?? []) {
    const stop = isObject(output) ? output["stop"] : undefined;
    // Only `aiTools` returns outputs with a `stop`.
    if (isObject(stop)) return stop as RunStop;
  }
  return undefined;
}

/** A `stopWhen` condition. Ends the loop of `ai` when a call waits for a person or the run was ended. */
export function isRunStopped({ steps }: { readonly steps: Steps }): boolean {
  return findRunStop(steps) !== undefined;
}

/** Messages of `ai` with a result for every call that waited; `stop` is set while one still waits. */
export type ResumedMessages<M> = { readonly messages: M[]; readonly stop?: RunStop };

/** Resumes the calls that wait in these messages, also in another process, and puts their results in place. */
export async function resumeAiTools<M extends { readonly role: string; readonly content: unknown }>(
  embedding: Embedding,
  messages: readonly M[],
  signal: AbortSignal,
): Promise<ResumedMessages<M>> {
  const { calls, stop } = await resumeTurn(embedding, messages.flatMap(waitingCalls), signal);
  const byId = new Map(calls.map((call) => [call.callId, call]));
  const placed = messages.map((message) => {
    if (!Array.isArray(message.content)) return message;
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

/** The id of a call whose result is still to come. */
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
