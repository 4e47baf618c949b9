import { type AssistantPart, type Content, type EventBodies, isObject, type Json, resultValue, type Usage } from "@assent/core";

export type WireBlock = { readonly type: string } & Readonly<Record<string, unknown>>;

export function contentBlocks(content: Content): readonly WireBlock[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.map((part): WireBlock => {
    switch (part.type) {
      case "text":
        return part;
      case "json":
        return { type: "text", text: JSON.stringify(part.value) };
      case "image":
        return { type: "image", source: { type: "base64", media_type: part.mediaType, data: part.data } };
      case "file":
        return { type: "document", source: { type: "base64", media_type: part.mediaType, data: part.data }, title: part.name ?? null };
      default:
        return part satisfies never;
    }
  });
}

export function assistantBlocks(parts: readonly AssistantPart[], callIds: readonly string[]): readonly WireBlock[] {
  let calls = 0;
  return parts.map((part): WireBlock => {
    if (part.type === "text") return { type: "text", text: part.text };
    if (part.type === "reasoning") return { type: "thinking", thinking: part.text };
    const id = callIds[calls] ?? part.call;
    calls += 1;
    return { type: "tool_use", id, name: part.tool, input: shownInput(part.input) };
  });
}

function shownInput(input: Json): unknown {
  if (typeof input !== "string") return isObject(input) ? input : { input };
  try {
    const value: unknown = JSON.parse(input === "" ? "{}" : input);
    return isObject(value) ? value : { input };
  } catch (_noJson) {
    return { input };
  }
}

export function resultBlock(ended: EventBodies["call.ended"]): WireBlock {
  const { call, outcome, type, content } = ended;
  const value = resultValue(ended);
  return {
    type: "tool_result",
    tool_use_id: call,
    content: typeof content === "string" ? content : contentBlocks(content),
    is_error: outcome !== "succeeded",
    ...(value !== undefined && { value }),
    outcome,
    ...(type !== null && { error_type: type }),
  };
}

/** Token counts under our names and those of other clients. */
export type WireUsage = {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly total_tokens: number;
};

export function wireUsage({ inputTokens, outputTokens, cachedInputTokens = 0 }: Usage): WireUsage {
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cache_read_tokens: cachedInputTokens,
    cache_read_input_tokens: cachedInputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}

const STOPS: Readonly<Record<string, string>> = { stop: "end_turn", "tool-calls": "tool_use", length: "max_tokens" };

export function stopReason(stop: string): string {
  return STOPS[stop] ?? stop;
}
