import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { markOf } from "../history/marks.ts";
import { userMessage } from "../history/messages.ts";

type Message = LanguageModelV4Message;

/** What a summary stands for: the first `through` answers of the history, with all that was said and told before and after each. */
export type CompactedPart = { readonly through: number; readonly summary: string };

/** The keptAnswers answers are summarized only if a person asks for it. */
const KEPT_ANSWERS = 10;
const TODO = "todo";

/** What would be summarized now: everything before the keptAnswers answers (ten by default) and the messages that led to them. Undefined: there is nothing to shorten. */
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
 * The history with its beginning told as a summary. Kept as they were: the system prompt, the keptAnswers prompt of the person, the todo list, calls of which nobody
 * knows how they ended, and everything after. The same history and summary always give the same, live and read back from the record.
 */
export function compactedHistory(messages: readonly Message[], { through, summary }: CompactedPart): Message[] {
  const end = endOfAnswer(messages, through);
  const system = messages.filter(({ role }) => role === "system");
  return [...system, userMessage(summary, "summary"), ...keptMessages(messages, end), ...messages.slice(end)];
}

/** The place after the answer of this number, counted from 1, and the results of its calls: a call is never apart from its result. */
function endOfAnswer(messages: readonly Message[], through: number): number {
  let answers = 0;
  for (const [at, { role }] of messages.entries()) {
    if (role !== "assistant") continue;
    answers += 1;
    if (answers === through) return messages[at + 1]?.role === "tool" ? at + 2 : at + 1;
  }
  return messages.length;
}

/** What stays of the messages before `end`. */
function keptMessages(messages: readonly Message[], end: number): readonly Message[] {
  const prompt = messages.findLastIndex((message) => message.role === "user" && markOf(message).origin === "user");
  const calls = keptCallIds(messages, end);
  return messages.slice(0, end).flatMap((message, at) => {
    if (at === prompt) return [message];
    if (calls.size === 0 || (message.role !== "assistant" && message.role !== "tool")) return [];
    return keepCalls(message, calls);
  });
}

/** The keptAnswers todo list, if it stands before `end`, and every call whose outcome is unknown. */
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
