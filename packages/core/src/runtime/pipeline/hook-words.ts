import type { ToolResult } from "../../model/result/result.ts";
import { contentText, withText } from "../../model/text/content-text.ts";
import { cutText } from "../../model/text/cut-text.ts";
import { printable } from "../../model/text/visible-text.ts";

/** What hooks have to say to the model. */
export type HookWords = {
  readonly name: string;
  readonly spokenBy?: string | undefined;
  readonly context?: string | undefined;
  readonly feedback?: string | undefined;
};

const LONGEST = 10_000;

/** Adds hooks' words behind a result, in an envelope that names the hook and that no text can close. */
export function withHookWords(result: ToolResult, words: HookWords): ToolResult {
  const envelope = hookEnvelope(words);
  if (envelope === undefined) return result;
  return { ...result, content: withText(result.content, `${unenveloped(contentText(result.content))}\n${envelope}`) };
}

/** The hooks' words for the model; undefined if they said nothing. */
export function hookEnvelope({ name, spokenBy = name, context = "", feedback = "" }: HookWords): string | undefined {
  const words = [context, feedback].filter((text) => text.trim() !== "");
  if (words.length === 0) return undefined;
  const text = words.map((word) => escapeText(cutText(word, LONGEST))).join("\n");
  return `<hook name="${escapeText(spokenBy).replaceAll('"', "&quot;")}">\n${text}\n</hook>`;
}

/** A tool's own output must not pass for a hook's words. */
function unenveloped(text: string): string {
  return text.replaceAll(/<(?=\s*\/?\s*hook\b)/giu, "&lt;");
}

function escapeText(text: string): string {
  return printable(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
