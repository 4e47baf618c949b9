import { isObject, type Json, type JsonObject } from "@assent/core";
import type { ModelTurn } from "./plan.ts";

/** One API that agents speak: which requests are its own, how many results a request contains, and how a turn is written. */
export type ModelWire = {
  readonly serves: (url: string) => boolean;
  readonly countResults: (body: JsonObject) => number;
  /** False for requests without tools, such as one for a title. */
  readonly offersTools: (body: JsonObject) => boolean;
  /** The whole answer, or the events of a stream. */
  readonly write: (turn: Exclude<ModelTurn, { readonly status: number }>, request: ModelRequest) => ModelReply;
};

export type ModelRequest = { readonly body: JsonObject; readonly url: string };
export type ModelReply = { readonly json: Json } | { readonly events: readonly (readonly [name: string | null, data: Json])[] };

const usage = { input_tokens: 10, output_tokens: 5 };

const anthropic: ModelWire = {
  serves: (url) => url.includes("/v1/messages"),
  countResults: ({ messages }) =>
    objects(messages)
      .flatMap(({ content }) => objects(content))
      .filter(({ type }) => type === "tool_result").length,
  offersTools: hasTools,
  write: (turn, { body }) => {
    const blocks: readonly JsonObject[] =
      "text" in turn
        ? [{ type: "text", text: turn.text }]
        : turn.calls.map(({ id, name, input }) => ({ type: "tool_use", id, name, input }));
    const stop_reason = "text" in turn ? "end_turn" : "tool_use";
    const base = { id: "msg_1", type: "message", role: "assistant", model: body["model"] ?? "", content: [], stop_sequence: null, usage };
    if (body["stream"] !== true) return { json: { ...base, content: blocks, stop_reason } };
    const streamed = blocks.flatMap((block, index) => {
      const isText = block["type"] === "text";
      const delta = isText
        ? { type: "text_delta", text: block["text"] ?? "" }
        : { type: "input_json_delta", partial_json: JSON.stringify(block["input"]) };
      const start = isText ? { type: "text", text: "" } : { ...block, input: {} };
      return [
        ["content_block_start", { type: "content_block_start", index, content_block: start }],
        ["content_block_delta", { type: "content_block_delta", index, delta }],
        ["content_block_stop", { type: "content_block_stop", index }],
      ] as const;
    });
    return {
      events: [
        ["message_start", { type: "message_start", message: { ...base, stop_reason: null } }],
        ...streamed,
        ["message_delta", { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage }],
        ["message_stop", { type: "message_stop" }],
      ],
    };
  },
};

const responses: ModelWire = {
  serves: (url) => url.includes("/responses"),
  countResults: ({ input }) => objects(input).filter(({ type }) => /^(?:function|custom_tool)_call_output$/.test(String(type))).length,
  offersTools: hasTools,
  write: (turn) => {
    const items: readonly JsonObject[] =
      "text" in turn
        ? [
            {
              type: "message",
              id: "m1",
              role: "assistant",
              status: "completed",
              content: [{ type: "output_text", text: turn.text, annotations: [] }],
            },
          ]
        : turn.calls.map(({ id, name, namespace, input }) => ({
            type: "function_call",
            id: `fc_${id}`,
            call_id: id,
            name,
            ...(namespace !== undefined && { namespace }),
            arguments: JSON.stringify(input),
            status: "completed",
          }));
    return {
      events: [
        ["response.created", { type: "response.created", response: { id: "r1" } }],
        ...items.map(
          (item, output_index) => ["response.output_item.done", { type: "response.output_item.done", output_index, item }] as const,
        ),
        [
          "response.completed",
          { type: "response.completed", response: { id: "r1", output: items, usage: { ...usage, total_tokens: 15 } } },
        ],
      ],
    };
  },
};

const chat: ModelWire = {
  serves: (url) => url.includes("/chat/completions"),
  countResults: ({ messages }) => objects(messages).filter(({ role }) => role === "tool").length,
  offersTools: hasTools,
  write: (turn, { body }) => {
    const calls =
      "text" in turn
        ? []
        : turn.calls.map(({ id, name, input }) => ({ id, type: "function", function: { name, arguments: JSON.stringify(input) } }));
    const finish_reason = "text" in turn ? "stop" : "tool_calls";
    const total = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const base = { id: "c1", created: 1, model: body["model"] ?? "" };
    const message: JsonObject =
      "text" in turn ? { role: "assistant", content: turn.text } : { role: "assistant", content: null, tool_calls: calls };
    if (body["stream"] !== true)
      return { json: { ...base, object: "chat.completion", choices: [{ index: 0, message, finish_reason }], usage: total } };
    const delta = "text" in turn ? message : { ...message, tool_calls: calls.map((call, index) => ({ index, ...call })) };
    const chunk = { ...base, object: "chat.completion.chunk" };
    return {
      events: [
        [null, { ...chunk, choices: [{ index: 0, delta, finish_reason: null }] }],
        [null, { ...chunk, choices: [{ index: 0, delta: {}, finish_reason }], usage: total }],
        [null, "[DONE]"],
      ],
    };
  },
};

const gemini: ModelWire = {
  serves: (url) => /generatecontent/i.test(url),
  countResults: ({ contents }) =>
    objects(contents)
      .flatMap(({ parts }) => objects(parts))
      .filter((part) => "functionResponse" in part).length,
  offersTools: hasTools,
  write: (turn, { url }) => {
    const parts: readonly JsonObject[] =
      "text" in turn ? [{ text: turn.text }] : turn.calls.map(({ name, input }) => ({ functionCall: { name, args: input } }));
    const answer = {
      candidates: [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      modelVersion: "fake",
    };
    return url.includes("stream") ? { events: [[null, answer]] } : { json: answer };
  },
};

export const MODEL_WIRES: readonly ModelWire[] = [anthropic, responses, chat, gemini];

function hasTools({ tools }: JsonObject): boolean {
  return Array.isArray(tools) && tools.length > 0;
}

function objects(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((one): one is JsonObject => isObject(one)) : [];
}
