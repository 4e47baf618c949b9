import type { ConversationEvent } from "@assent/agent";
import { stopReason } from "./content.ts";
import type { WireMessage } from "./message.ts";

type StreamedEvent = Extract<
  ConversationEvent,
  { readonly type: "message_start" | "block_start" | "delta" | "block_stop" | "message_stop" }
>;

export function isStreamed(event: ConversationEvent): event is StreamedEvent {
  return ["message_start", "block_start", "delta", "block_stop", "message_stop"].includes(event.type);
}

export function streamLine(event: StreamedEvent, answer: { readonly id: string; readonly model: string | null }): WireMessage {
  return { type: "stream_event", event: wireEvent(event, answer) };
}

function wireEvent(event: StreamedEvent, { id, model }: { readonly id: string; readonly model: string | null }): WireMessage {
  switch (event.type) {
    case "message_start":
      return { type: "message_start", message: { id, type: "message", role: "assistant", model, content: [] } };
    case "block_start":
      return { type: "content_block_start", index: event.index, content_block: startedBlock(event.block) };
    case "delta":
      return { type: "content_block_delta", index: event.index, delta: wireDelta(event.delta) };
    case "block_stop":
      return { type: "content_block_stop", index: event.index };
    case "message_stop":
      return { type: "message_stop", stop_reason: stopReason(event.stop) };
    default:
      return event satisfies never;
  }
}

function startedBlock(block: Extract<StreamedEvent, { readonly type: "block_start" }>["block"]): WireMessage {
  if (block.type === "call") return { type: "tool_use", id: block.id, name: block.tool, input: {} };
  return block.type === "text" ? { type: "text", text: "" } : { type: "thinking", thinking: "" };
}

function wireDelta({ type, delta }: Extract<StreamedEvent, { readonly type: "delta" }>["delta"]): WireMessage {
  if (type === "text") return { type: "text_delta", text: delta };
  return type === "reasoning" ? { type: "thinking_delta", thinking: delta } : { type: "input_json_delta", partial_json: delta };
}
