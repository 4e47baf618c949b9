import type { Content, ContentPart } from "../result/result.ts";

/** The text of some content, which output limits count. */
export function contentText(content: Content, indent?: number): string {
  if (typeof content === "string") return content;
  const texts: string[] = [];
  for (const part of content) {
    const text = partText(part, indent);
    if (text !== undefined) texts.push(text);
  }
  return texts.join("\n");
}

/** Replaces the text of some content; images and files stay. */
export function withText(content: Content, text: string): Content {
  if (typeof content === "string") return text;
  const first = content.findIndex((part) => partText(part) !== undefined);
  const out: ContentPart[] = content.filter((part) => partText(part) === undefined);
  out.splice(Math.max(first, 0), 0, { type: "text", text });
  return out;
}

function partText(part: ContentPart, indent?: number): string | undefined {
  if (part.type === "text") return part.text;
  return part.type === "json" ? JSON.stringify(part.value, null, indent) : undefined;
}
