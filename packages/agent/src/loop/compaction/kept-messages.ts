import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { markOf } from "../history/marks.ts";
import { userMessage } from "../history/messages.ts";

type Message = LanguageModelV4Message;

/** A summary of the first `through` answers of the history and the messages around them. */
export type CompactedPart = { readonly through: number; readonly summary: string };

/** How many of the newest answers stay, unless a person asks for compaction. */
const KEPT_ANSWERS = 10;
const TODO = "todo";

/** Finds what would be summarized: everything before the newest answers. Undefined if nothing can be shortened. */
export function findCompactable(
  messages: readonly Message[],
  keptAnswers: number = KEPT_ANSWERS,
): { readonly through: number; readonly head: readonly Message[] } | undefined {
  const through = messages.filter(({ role }) => role === "assistant").length - keptAnswers;
  if (through < 1) return undefined;
  const end = endOfAnswer(messages, through);
  const head = messages.slice(0, end);
  const dropped = head.filter(({ role }) => role !== "system").length - keptMessages(messages, end).length;
  return dropped > 1 ? { through, head } : undefined;
}

/**
 * Replaces the beginning of a history with a summary. Kept: the system prompt, the newest prompt of the person, the todo list, calls with
 * an unknown outcome, and everything after. The result is the same live and when read from the record.
 */
export function compactedHistory(messages: readonly Message[], { through, summary }: CompactedPart): Message[] {
  const end = endOfAnswer(messages, through);
  const system = messages.filter(({ role }) => role === "system");
  return [...system, userMessage(summary, "summary"), ...keptMessages(messages, end), ...messages.slice(end)];
}

/** The index after this answer (counted from 1) and its results. A call is never separated from its result. */
function endOfAnswer(messages: readonly Message[], through: number): number {
  let answers = 0;
  for (const [at, { role }] of messages.entries()) {
    if (role !== "assistant") continue;
    answers += 1;
    if (answers === through) return messages[at + 1]?.role === "tool" ? at + 2 : at + 1;
  }
  return messages.length;
}

function keptMessages(messages: readonly Message[], end: number): readonly Message[] {
  const prompt = messages.findLastIndex((message) => message.role === "user" && markOf(message).origin === "user");
  const calls = keptCallIds(messages, end);
  return messages.slice(0, end).flatMap((message, at) => {
    if (at === prompt) return [message];
    if (calls.size === 0 || (message.role !== "assistant" && message.role !== "tool")) return [];
    return keepCalls(message, calls);
  });
}

/** The newest todo list before `end`, and every call whose outcome is unknown. */
function keptCallIds(messages: readonly Message[], end: number): ReadonlySet<string> {
  const results = messages.flatMap((message, at) =>
    message.role === "tool" ? message.content.map((part) => ({ part, outcome: markOf(part).outcome, isBefore: at < end })) : [],
  );
  const list = results.findLast(({ part, outcome }) => part.type === "tool-result" && part.toolName === TODO && outcome === "succeeded");
  const kept = results.filter((result) => result.isBefore && (result.outcome === "unknown" || result === list));
  return new Set(kept.flatMap(({ part }) => (part.type === "tool-result" ? [part.toolCallId] : [])));
}

function keepCalls(message: Extract<Message, { readonly role: "assistant" | "tool" }>, calls: ReadonlySet<string>): readonly Message[] {
  if (message.role === "tool") {
    const results = message.content.filter((part) => part.type === "tool-result" && calls.has(part.toolCallId));
    return results.length > 0 ? [{ ...message, content: results }] : [];
  }
  const made = message.content.filter((part) => part.type === "tool-call" && calls.has(part.toolCallId));
  return made.length > 0 ? [{ ...message, content: made }] : [];
}
