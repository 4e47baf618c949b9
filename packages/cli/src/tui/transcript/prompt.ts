import { type Content, contentText } from "@assent/core";

const OPENING = "<user-command>";

/** What a person ran themselves, as the model is told of it before their next words. */
export function commandContext(command: string, output: string): string {
  return `${OPENING}\n$ ${command}\n${output}\n</user-command>`;
}

/** A prompt with what the person ran before it. */
export function buildPrompt(context: readonly string[], text: string): Content {
  if (context.length === 0) return text;
  return [...context.map((each) => ({ type: "text", text: each }) as const), { type: "text", text }];
}

/** The person's own words in a prompt. */
export function ownWords(content: Content): string {
  if (typeof content === "string") return content;
  return contentText(content.filter((part) => part.type !== "text" || !part.text.startsWith(OPENING)));
}
