import type { ContentPart, Json, ToolResult } from "@assent/core";
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";

/** The largest image, sound or file that the model gets, in base64 characters. */
const LARGEST_BINARY = 6_000_000;
/** All of them together; providers refuse larger requests. */
const LARGEST_TOTAL = 12_000_000;

/** What the model and people get for the result of an MCP tool. */
export function toToolResult({ content = [], structuredContent, isError }: CallToolResult): ToolResult {
  const value = structuredContent as Json | undefined;
  const parts = limitTotal(content.map(toPart));
  const shown: readonly ContentPart[] = parts.length === 0 && value !== undefined ? [{ type: "json", value }] : parts;
  const text = shown
    .map((part) => (part.type === "text" ? part.text : part.type === "json" ? jsonText(part.value) : describe(part)))
    .join("\n");
  const onlyText = shown.every(({ type }) => type === "text");
  return {
    content: onlyText ? text || "The tool returned nothing." : shown,
    ...(value !== undefined && { value }),
    display: text || "(no output)",
    ...(isError && { error: { message: text || "The tool reported an error without saying what is wrong.", type: "mcp_tool_error" } }),
  };
}

/** A value nested this deep is refused when the result is kept, which says that the tool ran. */
function jsonText(value: Json): string {
  try {
    return JSON.stringify(value);
  } catch {
    return "(nested too deep to show)";
  }
}

function toPart(block: ContentBlock): ContentPart {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return toBinary(block.mimeType, block.data);
    case "audio":
      return toBinary(block.mimeType, block.data);
    case "resource_link": {
      const { uri, name, title, description, mimeType } = block;
      const about = [title ?? name, mimeType && `(${mimeType})`, description].filter(Boolean).join(" ");
      return { type: "text", text: `Resource ${uri}: ${about}` };
    }
    case "resource": {
      const { resource } = block;
      if ("text" in resource) return { type: "text", text: `Resource ${resource.uri}:\n${resource.text}` };
      return toBinary(resource.mimeType ?? "application/octet-stream", resource.blob, resource.uri);
    }
    default:
      return { type: "text", text: `Content of an unknown type: ${JSON.stringify(block satisfies never)}` };
  }
}

/** Replaces what would make the result too large. */
function limitTotal(parts: readonly ContentPart[]): readonly ContentPart[] {
  let total = 0;
  return parts.map((part) => {
    if (part.type !== "image" && part.type !== "file") return part;
    if (total + part.data.length > LARGEST_TOTAL)
      return { type: "text", text: `${describe(part)}: left out, because the result is too large.` };
    total += part.data.length;
    return part;
  });
}

function toBinary(mediaType: string, data: string, name?: string): ContentPart {
  if (data.length > LARGEST_BINARY)
    return { type: "text", text: `${name ?? mediaType}: ${size(data)} of ${mediaType}, which is too large to show here.` };
  if (mediaType.startsWith("image/")) return { type: "image", mediaType, data };
  return { type: "file", mediaType, data, ...(name !== undefined && { name }) };
}

function describe(part: Extract<ContentPart, { readonly type: "image" | "file" }>): string {
  return `[${part.type === "file" && part.name ? `${part.name}, ` : ""}${part.mediaType}, ${size(part.data)}]`;
}

function size(base64: string): string {
  const bytes = Math.floor((base64.length * 3) / 4);
  return bytes < 10_000 ? `${bytes} bytes` : `${Math.round(bytes / 1000)} kB`;
}
