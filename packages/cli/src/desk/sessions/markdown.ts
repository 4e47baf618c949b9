import { type Content, contentText } from "@assent/core";
import { oneLine, visible } from "../../io/visible-text.ts";

/** The text cannot close this block or hide characters in it. */
export function fenced(text: string, language = ""): string {
  const shown = visible(text);
  const fence = "`".repeat(Math.max(3, longestRun(shown) + 1));
  return `${fence}${language}\n${shown}${shown.endsWith("\n") ? "" : "\n"}${fence}\n`;
}

export function contentBlock(content: Content): string {
  if (typeof content === "string") return fenced(content);
  const others = content.flatMap((part) => (part.type === "image" || part.type === "file" ? [`[${part.type}: ${part.mediaType}]`] : []));
  return fenced([contentText(content, 2), ...others].filter((text) => text !== "").join("\n"));
}

export function quoted(text: string): string {
  const shown = oneLine(text);
  if (shown === "") return "(nothing)";
  const tick = "`".repeat(longestRun(shown) + 1);
  const room = shown.startsWith("`") || shown.endsWith("`") || shown.trim() === "" ? " " : "";
  return `${tick}${room}${shown}${room}${tick}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
}
