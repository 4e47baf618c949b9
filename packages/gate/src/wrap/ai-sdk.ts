import { type CallContext, isObject, type JsonSchema, type Maybe, type StandardSchema, type Verdict } from "@assent/core";
import { shownSchema } from "../adapters/ai-tools.ts";
import type { EmbeddedCall } from "../adapters/embedding.ts";
import { gatherCalls } from "../adapters/gather-calls.ts";
import { GateUsageError } from "../gate-error.ts";
import { callValue, createCallNotes, findModelText, governTool, readToolSchema, type WrapContext, waitingCall } from "./governed-tool.ts";
import { checkTraitNames, entryOf, type ToolTraits, traitsDefinition } from "./traits.ts";

/** A tool set of the AI SDK (`ai` 7): objects made by `tool()`, by name. */
export type AiSdkTools = Readonly<Record<string, object>>;

/** A message of the AI SDK, as far as it is used here. */
export type ChatMessage = { readonly role: string; readonly content: unknown };

/** The fields of the SDK's tools and options that are used here. */
type SdkTool = {
  readonly type?: unknown;
  readonly description?: unknown;
  readonly inputSchema?: unknown;
  readonly execute?: unknown;
  readonly needsApproval?: unknown;
  readonly toModelOutput?: unknown;
};
type SdkOptions = {
  readonly toolCallId: string;
  readonly messages: readonly ChatMessage[];
  readonly abortSignal?: AbortSignal | undefined;
};
type Execute = (input: unknown, options: object) => unknown;

/** Wraps a tool set. The SDK asks the gate which calls need approval if calls are parked; otherwise the gate asks while it runs them. */
export function wrapAiSdkTools<T extends AiSdkTools>(
  context: WrapContext,
  tools: T,
  traits: Readonly<Record<string, ToolTraits | undefined>> = {},
  toolApproval: SdkToolApproval = {},
): T {
  if (!isObject(tools)) throw new GateUsageError("bad_tool", "gate.aiSdk takes a tool set of the AI SDK: { name: tool({ … }) }.");
  checkTraitNames(Object.keys(tools), traits);
  checkTraitNames(Object.keys(tools), toolApproval);
  const notes = createCallNotes<SdkOptions>();
  const settled = new Map<string, EmbeddedCall>();
  const texts = createModelTexts();
  const gather = gatherCalls(context.turns);
  const governed = Object.entries(tools).map(([name, tool]) =>
    governSdkTool(name, tool, withApproval(entryOf(traits, name), entryOf(toolApproval, name)), notes.get),
  );
  context.put(governed);
  const runCall = async (name: string, input: unknown, options: SdkOptions): Promise<unknown> => {
    const { toolCallId: id, messages, abortSignal: signal } = options;
    const early = settled.get(id);
    if (early) {
      settled.delete(id);
      return texts.valueOf(early);
    }
    return await notes.during(id, options, async () => {
      if (!isReplayed(options))
        return texts.valueOf(await gather({ call: { id, name, arguments: input }, signal, newPrompt: isPrompt(messages) }));
      const { calls } = await context.turns.resume([waitingCall(id, name)], signal);
      return texts.valueOf(calls[0] ?? waitingCall(id, name));
    });
  };
  const needsApproval = async (name: string, input: unknown, options: SdkOptions): Promise<boolean> => {
    if (!context.parks) return false;
    if (isReplayed(options)) return true;
    if ((await context.judge(name, input)) !== "ask") return false;
    const { toolCallId: id, messages } = options;
    const call = await notes.during(id, options, () =>
      gather({ call: { id, name, arguments: input }, signal: undefined, newPrompt: isPrompt(messages) }),
    );
    if (call.outcome === "waiting" && call.callId === id) return true;
    settled.set(id, call); // a remembered answer or a hook decided
    return false;
  };
  const wrapped = Object.entries(tools).map(([name, tool], at) => [
    name,
    {
      ...tool,
      inputSchema: shownSchema(governed[at]?.inputSchema),
      execute: (input: unknown, options: SdkOptions) => runCall(name, input, { ...options, messages: options?.messages ?? [] }),
      needsApproval: (input: unknown, options: SdkOptions) => needsApproval(name, input, options),
      toModelOutput: (tool as SdkTool).toModelOutput ?? texts.show,
    },
  ]);
  // Outputs and inputs are those of the given tools.
  return Object.fromEntries(wrapped) as T;
}

/** The texts for the model of the latest calls whose text is not just their value, by call id. */
function createModelTexts() {
  const texts = new Map<string, string>();
  return {
    valueOf: (call: EmbeddedCall): unknown => {
      const value = callValue(call);
      const text = findModelText(call);
      texts.delete(call.id); // some models give the same id in every turn
      if (text !== undefined) texts.set(call.id, text);
      const [oldest] = texts.keys();
      if (oldest !== undefined && texts.size > KEPT_TEXTS) texts.delete(oldest);
      return value;
    },
    /** `toModelOutput` of a tool that has none. */
    show: ({ toolCallId, output }: { readonly toolCallId: string; readonly output: unknown }) => {
      const text = texts.get(toolCallId) ?? output;
      return typeof text === "string" ? { type: "text", value: text } : { type: "json", value: text === undefined ? null : text };
    },
  };
}

const KEPT_TEXTS = 1_000;

function governSdkTool(name: string, tool: SdkTool, traits: ToolTraits | undefined, optionsOf: (id: string) => SdkOptions | undefined) {
  const { execute, needsApproval, description } = tool;
  if (typeof execute !== "function") {
    const where = tool.type === "provider" ? "runs at the provider" : "has no execute function, so it runs elsewhere";
    throw new GateUsageError(
      "bad_tool",
      `Tool '${name}' ${where}, and the gate cannot decide about it. Pass it beside: { ...gate.aiSdk(tools), ${name} }.`,
    );
  }
  const options = ({ callId }: CallContext): SdkOptions => optionsOf(callId) ?? { toolCallId: callId, messages: [] };
  const asks = needsApproval === undefined || needsApproval === false ? undefined : asksByTool(needsApproval, options);
  return governTool({
    name,
    description,
    input: readSdkSchema(name, tool.inputSchema),
    traits: traitsDefinition(name, traits, asks),
    run: (input, ctx) => (execute as Execute)(input, { context: {}, ...options(ctx), abortSignal: ctx.signal }),
  });
}

function asksByTool(
  needsApproval: unknown,
  options: (ctx: CallContext) => SdkOptions,
): (input: unknown, ctx: CallContext) => Maybe<boolean> {
  if (typeof needsApproval !== "function") return () => true;
  return async (input, ctx) => (await needsApproval(input, { context: {}, ...options(ctx) })) !== false;
}

/** A schema of the SDK may be lazy, and may be a JSON Schema with its own validation. */
function readSdkSchema(name: string, given: unknown): StandardSchema | JsonSchema {
  const schema: unknown = typeof given === "function" && !("~standard" in given) ? given() : given;
  if (!isObject(schema) || !("jsonSchema" in schema) || "~standard" in schema) return readToolSchema(name, schema);
  const { jsonSchema, validate } = schema;
  if (!isObject(jsonSchema) || "then" in jsonSchema)
    throw new GateUsageError("bad_tool", `The schema of tool '${name}' is not there yet. Await it before gate.aiSdk.`);
  if (typeof validate !== "function") return jsonSchema;
  return {
    "~standard": {
      version: 1,
      vendor: "ai",
      validate: async (value) => {
        const result: { success: boolean; value?: unknown; error?: unknown } = await validate(value);
        return result.success ? { value: result.value } : { issues: [{ message: String(result.error ?? "must be valid") }] };
      },
      jsonSchema: { input: () => jsonSchema },
    },
  };
}

/**
 * The SDK runs a call again after its approval; then the messages have the call, but no result. A call that has a result is an earlier one:
 * some models give the same id in every turn.
 */
function isReplayed({ toolCallId, messages }: SdkOptions): boolean {
  const count = (type: string): number =>
    messages.flatMap(({ content }) => partsOf(content, type)).filter((part) => part["toolCallId"] === toolCallId).length;
  return count("tool-call") > count("tool-result");
}

function isPrompt(messages: readonly ChatMessage[]): boolean {
  return messages.at(-1)?.role === "user";
}

function partsOf(content: unknown, type: string): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(content) ? content.filter((part: unknown) => isObject(part) && part["type"] === type) : [];
}

/** An approval request in messages, and the answer to it if there is one. */
export type RequestedApproval = {
  readonly approvalId: string;
  readonly callId: string;
  readonly answered?: { readonly approved: boolean; readonly reason?: string };
};

/** Lists the approval requests in messages whose calls have no result. */
export function findRequestedApprovals(messages: readonly ChatMessage[]): readonly RequestedApproval[] {
  const all = (type: string) => messages.flatMap(({ content }) => partsOf(content, type));
  const ended = new Set(all("tool-result").map(({ toolCallId }) => toolCallId));
  const responses = new Map(all("tool-approval-response").map((part) => [part["approvalId"], part]));
  return all("tool-approval-request").flatMap(({ approvalId, toolCallId }): RequestedApproval[] => {
    if (typeof approvalId !== "string" || typeof toolCallId !== "string" || ended.has(toolCallId)) return [];
    const { approved, reason } = responses.get(approvalId) ?? {};
    if (typeof approved !== "boolean") return [{ approvalId, callId: toolCallId }];
    return [{ approvalId, callId: toolCallId, answered: { approved, ...(typeof reason === "string" && { reason }) } }];
  });
}

/** Adds an answer to messages, where the SDK looks for it: in the last message. */
export function withApprovalResponses<M extends ChatMessage>(
  messages: readonly M[],
  responses: readonly { readonly approvalId: string; readonly approved: boolean; readonly reason?: string }[],
): M[] {
  if (responses.length === 0) return [...messages];
  const parts = responses.map((response) => ({ type: "tool-approval-response", ...response }));
  const last = messages.at(-1);
  if (last?.role === "tool" && Array.isArray(last.content))
    return [...messages.slice(0, -1), { ...last, content: [...last.content, ...parts] }];
  // A message of the SDK like the others.
  return [...messages, { role: "tool", content: parts } as unknown as M];
}

/** What `toolApproval` of the SDK says about one tool. */
export type SdkApprovalStatus = SdkApprovalType | { readonly type: SdkApprovalType } | undefined;

type SdkApprovalType = "user-approval" | "approved" | "denied" | "not-applicable";

/** The statuses of tools, as in `toolApproval` of the SDK. */
export type SdkToolApproval = Readonly<Record<string, SdkApprovalStatus | ((input: never, options: never) => Maybe<SdkApprovalStatus>)>>;

const VERDICTS: Readonly<Record<SdkApprovalType, Verdict | undefined>> = {
  "user-approval": "ask",
  approved: "allow",
  denied: "deny",
  "not-applicable": undefined,
};

/** Traits come first; a status counts where they have no permission. */
function withApproval(traits: ToolTraits | undefined, approval: SdkToolApproval[string]): ToolTraits | undefined {
  if (approval === undefined || traits?.permission !== undefined) return traits;
  const read = (status: SdkApprovalStatus): Verdict | undefined => {
    const type = typeof status === "object" ? status.type : status;
    return type === undefined ? undefined : VERDICTS[type];
  };
  const options = ({ callId }: CallContext): never => ({ toolCallId: callId, messages: [] }) as never;
  return {
    ...traits,
    permission: async (input: never, ctx: CallContext) =>
      read(typeof approval === "function" ? await approval(input, options(ctx)) : approval),
  };
}
