import type { EventBodies, Ledger, LedgerEvent, TaskUsage } from "@assent/core";
import { parseEvent } from "@assent/core";

export type LastAnswer = Pick<EventBodies["message.assistant"], "content" | "stop">;

/** The progress of an agent, from the events of its session. */
export type AgentProgress = {
  readonly take: (event: LedgerEvent) => void;
  readonly text: () => string;
  /** All texts, at most the last 1 MiB. */
  readonly output: () => string;
  readonly usage: (durationMs: number) => TaskUsage;
  readonly answer: () => LastAnswer | undefined;
  /** True once it got its prompt. */
  readonly begun: () => boolean;
};

const KEPT = 1_048_576;
const TYPES = ["message.user", "message.assistant", "call.proposed"] as const;

export function createProgress(): AgentProgress {
  const so = { text: "", output: "", tokens: 0, toolUses: 0, begun: false };
  let answer: LastAnswer | undefined;
  const hear = (message: EventBodies["message.assistant"]): void => {
    const text = message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
    if (text !== "") so.text = text;
    if (text !== "")
      so.output = [so.output, text]
        .filter((one) => one !== "")
        .join("\n\n")
        .slice(-KEPT);
    so.tokens += (message.usage?.inputTokens ?? 0) + (message.usage?.outputTokens ?? 0);
    answer = message;
  };
  return {
    take: (event) => {
      if (event.type === "message.assistant") hear(event.body);
      if (event.type === "call.proposed" && event.body.index >= 0) so.toolUses += 1;
      if (event.type === "message.user") so.begun ||= event.body.origin === "user";
    },
    text: () => so.text,
    output: () => so.output,
    usage: (durationMs) => ({ totalTokens: so.tokens, toolUses: so.toolUses, durationMs }),
    answer: () => answer,
    begun: () => so.begun,
  };
}

export async function readProgress(ledger: Ledger, session: string): Promise<AgentProgress> {
  const progress = createProgress();
  for await (const stored of ledger.read({ session, seq: 0 }, { session, types: TYPES })) {
    const event = parseEvent({ ...stored, body: await ledger.resolve(stored.body) });
    if (event) progress.take(event);
  }
  return progress;
}

const CUT: readonly string[] = ["length", "content-filter", "aborted", "error"];

/** True if the last answer is complete and makes no calls. */
export function isCompleteAnswer(answer: LastAnswer | undefined): boolean {
  return answer !== undefined && !CUT.includes(answer.stop) && !answer.content.some(({ type }) => type === "call");
}
