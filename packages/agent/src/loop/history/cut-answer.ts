import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { AssistantPart } from "@assent/core";
import { assistantMessage, toolMessage } from "./messages.ts";

const NOT_RUN = "Not run: the answer that made this call was cut off before it was complete.";

/** True if an answer with this stop reason broke off. */
export function isCut(stop: string): boolean {
  return stop === "aborted" || stop === "error";
}

/** An answer that broke off, as messages. Drops unsigned reasoning, which providers refuse. Its calls were not run. */
export function cutMessages(parts: readonly AssistantPart[], turn: number): readonly LanguageModelV4Message[] {
  const kept = parts.filter(({ type, provider }) => type !== "reasoning" || provider !== undefined);
  if (kept.every(({ type }) => type === "reasoning")) return [];
  const calls = kept.flatMap((part) => (part.type === "call" ? [{ callId: `${part.call}_cut${turn}`, tool: part.tool }] : []));
  const answer = assistantMessage(
    kept,
    calls.map(({ callId }) => callId),
  );
  const end = { outcome: "cancelled", type: "cancelled", content: NOT_RUN };
  return calls.length === 0 ? [answer] : [answer, toolMessage(calls.map((call) => ({ ...call, ...end })))];
}
