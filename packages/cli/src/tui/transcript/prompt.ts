import { type Content, contentText } from "@assent/core";

const OPENING = "<user-command>";

/** A `!` command and its output, as the model sees it. */
export function commandContext(command: string, output: string): string {
  return `${OPENING}\n$ ${command}\n${output}\n</user-command>`;
}

/** Puts `!` commands before a prompt. */
export function buildPrompt(context: readonly string[], text: string): Content {
  if (context.length === 0) return text;
  return [...context.map((each) => ({ type: "text", text: each }) as const), { type: "text", text }];
}

/** The prompt without `!` commands. */
export function ownWords(content: Content): string {
  if (typeof content === "string") return content;
  return contentText(content.filter((part) => part.type !== "text" || !part.text.startsWith(OPENING)));
}
