import type { Content, ContentPart } from "../result/result.ts";

/** A file as models accept it. */
export type ShownFile = { readonly type: "file"; readonly mediaType: string; readonly data: string; readonly filename?: string };

/** One part of a message for a model. */
export type ShownPart = { readonly type: "text"; readonly text: string } | ShownFile;

/** Every provider accepts these; another type in the history would make every request fail. */
const SHOWN_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"]);

/** A part of some content as a model sees it. */
export function showPart(part: ContentPart): ShownPart {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.type === "json") return { type: "text", text: JSON.stringify(part.value) };
  const name = part.type === "file" ? part.name : undefined;
  if (SHOWN_TYPES.has(part.mediaType)) {
    const { mediaType, data } = part;
    return { type: "file", mediaType, data, ...(name !== undefined && { filename: name }) };
  }
  const bytes = decodeBase64(part.data);
  if (part.mediaType.startsWith("text/")) return { type: "text", text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) };
  return { type: "text", text: `[${name ?? part.type}: ${part.mediaType}, ${bytes.length} bytes, cannot be shown]` };
}

/** Skips invalid digits: a tool may return text that is not base64. */
function decodeBase64(data: string): Uint8Array {
  const digits = data
    .replaceAll("-", "+")
    .replaceAll("_", "/")
    .replaceAll(/[^A-Za-z0-9+/]/g, "");
  const whole = digits.length % 4 === 1 ? digits.slice(0, -1) : digits;
  return Uint8Array.from(atob(whole), (byte) => byte.charCodeAt(0));
}

/** A result as a model sees it: one text, then the files. Some providers need a text. */
export function showContent(content: Content): { readonly text: string; readonly files: readonly ShownFile[] } {
  if (typeof content === "string") return { text: content, files: [] };
  const parts = content.map(showPart);
  const files = parts.flatMap((part) => (part.type === "file" ? [part] : []));
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  return { text: text === "" && files.length > 0 ? "(see the file)" : text, files };
}
