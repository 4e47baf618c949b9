import { type Content, isObject, type ToolResult } from "@assent/core";
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";

/** The result that a client gets if it is not the one that the server sent: a denial, or a result that a hook changed. */
export function toCallResult({ content, value, error }: ToolResult): CallToolResult {
  return {
    content: toBlocks(content),
    ...(error ? { isError: true } : isObject(value) && { structuredContent: value as Record<string, unknown> }),
  };
}

/** A result that only says something. It is an error, so that it needs no structured content. */
export function errorResult(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

function toBlocks(content: Content): ContentBlock[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.map((part): ContentBlock => {
    switch (part.type) {
      case "text":
        return { type: "text", text: part.text };
      case "json":
        return { type: "text", text: JSON.stringify(part.value) };
      case "image":
        return { type: "image", mimeType: part.mediaType, data: part.data };
      case "file":
        if (part.mediaType.startsWith("audio/")) return { type: "audio", mimeType: part.mediaType, data: part.data };
        return { type: "resource", resource: { uri: `file:///${part.name ?? "result"}`, mimeType: part.mediaType, blob: part.data } };
      default:
        return { type: "text", text: JSON.stringify(part satisfies never) };
    }
  });
}
