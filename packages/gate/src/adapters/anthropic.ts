import type { ShownFile } from "@assent/core/parts";
import { type Embedding, embeddedTurns } from "./embedding.ts";
import { makeAdapter, type ProviderAdapter, parametersOf, proposedCall, type Wire } from "./provider-adapter.ts";

/** A tool for the Messages API. */
export type AnthropicTool = { name: string; description: string; input_schema: { type: "object"; [keyword: string]: unknown } };

/** All results of one turn for the Messages API, in one message. */
export type AnthropicMessage = { role: "user"; content: AnthropicResult[] };

/** A result for the Messages API. */
export type AnthropicResult = {
  type: "tool_result";
  tool_use_id: string;
  content: string | (Text | Image | Document)[];
  is_error?: true;
};

type Text = { type: "text"; text: string };
type Image = { type: "image"; source: { type: "base64"; media_type: ImageType; data: string } };
type Document = { type: "document"; source: { type: "base64"; media_type: "application/pdf"; data: string } };
type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** The adapter for Anthropic's Messages API. `dispatch` takes `message.content`. */
export function anthropicMessages(embedding: Embedding): ProviderAdapter<AnthropicTool, AnthropicMessage> {
  return makeAdapter(embeddedTurns(embedding), ANTHROPIC_MESSAGES);
}

/** The wire of the Messages API. */
export const ANTHROPIC_MESSAGES: Wire<AnthropicTool, AnthropicMessage> = {
  declare: (tool) => ({ name: tool.name, description: tool.description, input_schema: { ...parametersOf(tool), type: "object" } }),
  takes: "message.content",
  read: ({ type, id, name, input }) => (type === "tool_use" ? proposedCall(id, name, input) : undefined),
  tell: (results) => {
    if (results.length === 0) return [];
    const content = results.map(
      ({ id, ok, text, files }): AnthropicResult => ({
        type: "tool_result",
        tool_use_id: id,
        content: files.length === 0 ? text : [{ type: "text", text }, ...files.flatMap(block)],
        ...(!ok && { is_error: true }),
      }),
    );
    return [{ role: "user", content }];
  },
};

const IMAGES: readonly ImageType[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

function block({ mediaType, data }: ShownFile): (Image | Document)[] {
  if (mediaType === "application/pdf") return [{ type: "document", source: { type: "base64", media_type: mediaType, data } }];
  const media_type = IMAGES.find((image) => image === mediaType);
  return media_type ? [{ type: "image", source: { type: "base64", media_type, data } }] : [];
}
