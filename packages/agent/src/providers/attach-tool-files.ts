import { isObject } from "@assent/core";

type Body = Record<string, unknown>;

/**
 * Chat completions take text alone as a tool's result. What else a result holds is shown in a message of the person's role after the results,
 * in their order; the result keeps its text.
 */
export function attachToolFiles(body: Body): Body {
  const { messages } = body;
  if (!Array.isArray(messages) || !messages.some(hasParts)) return body;
  const sent: unknown[] = [];
  let files: unknown[] = [];
  for (const message of messages) {
    if (!isObject(message) || message["role"] !== "tool") {
      if (files.length > 0) sent.push({ role: "user", content: files });
      files = [];
      sent.push(message);
      continue;
    }
    const { text, rest } = apart(message["content"]);
    sent.push({ ...message, content: text });
    files.push(...rest);
  }
  if (files.length > 0) sent.push({ role: "user", content: files });
  return { ...body, messages: sent };
}

function hasParts(message: unknown): boolean {
  return isObject(message) && message["role"] === "tool" && Array.isArray(message["content"]);
}

function apart(content: unknown): { readonly text: unknown; readonly rest: readonly unknown[] } {
  if (!Array.isArray(content)) return { text: content, rest: [] };
  const texts = content.flatMap((part) => (isObject(part) && part["type"] === "text" ? [String(part["text"])] : []));
  return { text: texts.join("\n"), rest: content.filter((part) => !isObject(part) || part["type"] !== "text") };
}
