import { frame, type Received, type Tree } from "./model-server.ts";

/** What a model says, whichever way its provider writes it. */
export type Said = {
  readonly reasoning?: string;
  readonly text?: readonly string[];
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly input: string }[];
  /** Cut at the token limit. */
  readonly cut?: boolean;
};

/** A provider's way of speaking, as its public documentation has it. */
export type Dialect = {
  readonly id: string;
  readonly environment: (origin: string) => Readonly<Record<string, string>>;
  readonly url: RegExp;
  readonly authorised: (headers: Received["headers"]) => unknown;
  readonly frames: (said: Said) => readonly string[];
  /** The messages of a request's body. */
  readonly messages: (body: Tree) => readonly Tree[];
  readonly overload: { readonly status: number; readonly body: unknown };
  readonly refusal: { readonly status: number; readonly body: unknown };
};

export const KEY = "key-of-the-test";

/** How much each dialect's answer counts as used: the same everywhere. */
export const USAGE = { inputTokens: 120, outputTokens: 30, cachedInputTokens: 100 } as const;

const listed =
  (key: string): Dialect["messages"] =>
  (body) =>
    body[key] as unknown as readonly Tree[];

const chat = (provider: string, variable: string): Dialect => ({
  id: `${provider}:test-model`,
  environment: (origin) => ({ [`${variable}_BASE_URL`]: `${origin}/v1`, [`${variable}_API_KEY`]: KEY }),
  url: /^\/v1\/chat\/completions$/,
  authorised: (headers) => headers["authorization"] === `Bearer ${KEY}`,
  messages: listed("messages"),
  overload: { status: 503, body: { error: { message: "The server is overloaded", type: "server_error" } } },
  refusal: { status: 400, body: { error: "Invalid tool_choice type: 'object'. Supported string values: none, auto, required" } },
  frames: ({ reasoning, text = [], calls = [], cut }) => {
    const chunk = (delta: object, finish: string | null = null): string =>
      frame({
        id: "answer-1",
        object: "chat.completion.chunk",
        created: 1_790_000_000,
        model: "test-model",
        choices: [{ index: 0, delta, finish_reason: finish }],
      });
    const usage = {
      prompt_tokens: 120,
      completion_tokens: 30,
      total_tokens: 150,
      prompt_tokens_details: { cached_tokens: 100 },
      completion_tokens_details: { reasoning_tokens: 10 },
    };
    return [
      chunk({ role: "assistant", content: "" }),
      ...(reasoning === undefined ? [] : [chunk({ reasoning_content: reasoning })]),
      ...text.map((content) => chunk({ content })),
      ...calls.flatMap(({ id, name, input }, index) => [
        chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
        ...halves(input).map((part) => chunk({ tool_calls: [{ index, function: { arguments: part } }] })),
      ]),
      chunk({}, cut ? "length" : calls.length > 0 ? "tool_calls" : "stop"),
      frame({ id: "answer-1", object: "chat.completion.chunk", created: 1_790_000_000, model: "test-model", choices: [], usage }),
      frame("[DONE]"),
    ];
  },
});

const responses: Dialect = {
  id: "openai:gpt-5.4",
  environment: (origin) => ({ OPENAI_BASE_URL: `${origin}/v1`, OPENAI_API_KEY: KEY }),
  url: /^\/v1\/responses$/,
  authorised: (headers) => headers["authorization"] === `Bearer ${KEY}`,
  messages: listed("input"),
  overload: {
    status: 503,
    body: { error: { message: "The engine is currently overloaded", type: "server_error", code: null, param: null } },
  },
  refusal: {
    status: 400,
    body: { error: { message: "Tool choice is not supported.", type: "invalid_request_error", param: "tool_choice", code: null } },
  },
  frames: ({ reasoning, text, calls = [], cut }) => {
    let sequence = 0;
    let output = -1;
    const event = (type: string, rest: object): string => {
      sequence += 1;
      return frame({ type, sequence_number: sequence, ...rest }, type);
    };
    const about = { id: "answer-1", object: "response", created_at: 1_790_000_000, model: "gpt-5.4-2026-03-05", output: [] };
    const item = (added: object, between: (at: object) => readonly string[], done: object): readonly string[] => {
      output += 1;
      const at = { output_index: output };
      return [
        event("response.output_item.added", { ...at, item: added }),
        ...between(at),
        event("response.output_item.done", { ...at, item: done }),
      ];
    };
    const reasoned = { type: "reasoning", id: "rs_1" };
    const message = { type: "message", id: "msg_1", role: "assistant" };
    return [
      event("response.created", { response: { ...about, status: "in_progress" } }),
      ...(reasoning === undefined
        ? []
        : item(
            { ...reasoned, summary: [], encrypted_content: "sealed-too-early" },
            (at) => [
              event("response.reasoning_summary_part.added", {
                ...at,
                item_id: "rs_1",
                summary_index: 0,
                part: { type: "summary_text", text: "" },
              }),
              event("response.reasoning_summary_text.delta", { ...at, item_id: "rs_1", summary_index: 0, delta: reasoning }),
              event("response.reasoning_summary_part.done", {
                ...at,
                item_id: "rs_1",
                summary_index: 0,
                part: { type: "summary_text", text: reasoning },
              }),
            ],
            { ...reasoned, summary: [{ type: "summary_text", text: reasoning }], encrypted_content: "sealed" },
          )),
      ...(text === undefined
        ? []
        : item(
            { ...message, status: "in_progress", content: [] },
            (at) =>
              text.map((delta) => event("response.output_text.delta", { ...at, item_id: "msg_1", content_index: 0, delta, logprobs: [] })),
            { ...message, status: "completed", content: [{ type: "output_text", text: text.join(""), annotations: [] }] },
          )),
      ...calls.flatMap(({ id, name, input }) => {
        const call = { type: "function_call", id: `fc_${id}`, call_id: id, name };
        return item(
          { ...call, arguments: "", status: "in_progress" },
          (at) => [
            ...halves(input).map((delta) => event("response.function_call_arguments.delta", { ...at, item_id: `fc_${id}`, delta })),
            event("response.function_call_arguments.done", { ...at, item_id: `fc_${id}`, arguments: input }),
          ],
          { ...call, arguments: input, status: "completed" },
        );
      }),
      event(cut ? "response.incomplete" : "response.completed", {
        response: {
          ...about,
          status: cut ? "incomplete" : "completed",
          incomplete_details: cut ? { reason: "max_output_tokens" } : null,
          usage: {
            input_tokens: 120,
            input_tokens_details: { cached_tokens: 100 },
            output_tokens: 30,
            output_tokens_details: { reasoning_tokens: 10 },
            total_tokens: 150,
          },
        },
      }),
    ];
  },
};

const messages: Dialect = {
  id: "anthropic:claude-opus-4-6",
  environment: (origin) => ({ ANTHROPIC_BASE_URL: origin, ANTHROPIC_API_KEY: KEY }),
  url: /^\/v1\/messages$/,
  authorised: (headers) => headers["x-api-key"] === KEY,
  messages: listed("messages"),
  overload: { status: 529, body: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } } },
  refusal: {
    status: 400,
    body: {
      type: "error",
      error: { type: "invalid_request_error", message: "Thinking may not be enabled when tool_choice forces tool use." },
    },
  },
  frames: ({ reasoning, text, calls = [], cut }) => {
    const event = (data: { type: string; [key: string]: unknown }): string => frame(data, data.type);
    let index = -1;
    const block = (start: object, deltas: readonly object[]): readonly string[] => {
      index += 1;
      const at = index;
      return [
        event({ type: "content_block_start", index: at, content_block: start }),
        ...deltas.map((delta) => event({ type: "content_block_delta", index: at, delta })),
        event({ type: "content_block_stop", index: at }),
      ];
    };
    const usage = { input_tokens: 15, cache_creation_input_tokens: 5, cache_read_input_tokens: 100, output_tokens: 1 };
    const about = { id: "answer-1", type: "message", role: "assistant", model: "claude-opus-4-6", content: [] };
    return [
      event({ type: "message_start", message: { ...about, stop_reason: null, stop_sequence: null, usage } }),
      event({ type: "ping" }),
      ...(reasoning === undefined
        ? []
        : [
            ...block({ type: "thinking", thinking: "", signature: "" }, [
              { type: "thinking_delta", thinking: reasoning },
              { type: "signature_delta", signature: "signed" },
            ]),
            ...block({ type: "redacted_thinking", data: "blackened" }, []),
          ]),
      ...(text === undefined
        ? []
        : block(
            { type: "text", text: "" },
            text.map((delta) => ({ type: "text_delta", text: delta })),
          )),
      ...calls.flatMap(({ id, name, input }) =>
        block(
          { type: "tool_use", id, name, input: {} },
          halves(input).map((part) => ({ type: "input_json_delta", partial_json: part })),
        ),
      ),
      event({
        type: "message_delta",
        delta: { stop_reason: cut ? "max_tokens" : calls.length > 0 ? "tool_use" : "end_turn", stop_sequence: null },
        usage: { output_tokens: 30 },
      }),
      event({ type: "message_stop" }),
    ];
  },
};

const gemini: Dialect = {
  id: "google:gemini-3.1-pro-preview",
  environment: (origin) => ({ GOOGLE_GENERATIVE_AI_BASE_URL: `${origin}/v1beta`, GEMINI_API_KEY: KEY }),
  url: /^\/v1beta\/models\/gemini-[\w.-]+:streamGenerateContent\?alt=sse$/,
  authorised: (headers) => headers["x-goog-api-key"] === KEY,
  messages: listed("contents"),
  overload: { status: 503, body: { error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } } },
  refusal: {
    status: 400,
    body: {
      error: { code: 400, message: "Forced function calling (mode = ANY) is not supported by this model.", status: "INVALID_ARGUMENT" },
    },
  },
  frames: ({ reasoning, text = [], calls = [], cut }) => {
    const chunk = (parts: readonly object[], rest: object = {}): string =>
      frame({
        candidates: [{ content: { role: "model", parts }, index: 0, ...rest }],
        usageMetadata: {
          promptTokenCount: 120,
          cachedContentTokenCount: 100,
          candidatesTokenCount: 20,
          thoughtsTokenCount: 10,
          totalTokenCount: 150,
        },
        modelVersion: "gemini-3.1-pro-preview",
        responseId: "answer-1",
      });
    return [
      ...(reasoning === undefined ? [] : [chunk([{ text: reasoning, thought: true }])]),
      ...text.map((part) => chunk([{ text: part }])),
      ...(calls.length === 0
        ? []
        : [
            chunk(
              calls.map(({ id, name, input }, at) => ({
                functionCall: { id, name, args: JSON.parse(input) },
                ...(at === 0 && reasoning !== undefined && { thoughtSignature: "signed" }),
              })),
            ),
          ]),
      chunk([{ text: "" }], { finishReason: cut ? "MAX_TOKENS" : "STOP" }),
    ];
  },
};

/** The four ways models are spoken to. */
export const DIALECTS: Readonly<Record<"chat completions" | "responses" | "messages" | "gemini", Dialect>> = {
  "chat completions": chat("openai-compatible", "OPENAI_COMPATIBLE"),
  responses,
  messages,
  gemini,
};

function halves(text: string): readonly string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}
