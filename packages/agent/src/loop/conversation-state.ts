import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { AssistantPart } from "@assent/core";
import type { createLoopDetector } from "@assent/core/parts";
import type { ContextRoom } from "./compaction/context-usage.ts";
import type { ConversationDeps, ConversationEvent, RunEnd } from "./conversation.ts";
import { userMessage } from "./history/messages.ts";
import type { UsageCounter } from "./limits/usage-totals.ts";
import type { Capabilities } from "./model/capability.ts";
import type { PlanConvergence } from "./steering/plan-mode.ts";
import type { Steering } from "./steering/steering.ts";
import type { StopHook } from "./turn/stop-hook.ts";

/** A conversation under way. */
export type Talk = {
  readonly deps: ConversationDeps;
  /** Tells whoever looks on; what they throw changes nothing. */
  readonly tell: (event: ConversationEvent) => void;
  readonly messages: LanguageModelV4Message[];
  readonly steering: Steering;
  readonly planning: PlanConvergence;
  readonly capabilities: Capabilities;
  readonly detector: ReturnType<typeof createLoopDetector>;
  readonly usage: UsageCounter;
  readonly room: ContextRoom;
  readonly stopHook: StopHook;
  /** The model for the next turn only. */
  override: string;
  text: string;
  /** The next turn is the first since a person spoke. */
  newPrompt: boolean;
  /** The next turn is the first since a person spoke, or of this process. */
  fresh: boolean;
  /** No batch was dispatched since a person spoke. */
  unheard: boolean;
  /** What the turns under way go back to. */
  origin: "user" | "notice" | "schedule";
  /** Hooks were told that the session started. */
  greeted: boolean;
  /** The answer whose calls are under way, and the place in the record before it. */
  answering: { readonly parts: readonly AssistantPart[]; readonly seq: number } | undefined;
  /** How many answers there must be before the history is made smaller again by itself. */
  compactFrom: number;
  remark: string | undefined;
};

/** How a run ends, with the newest words of the model. */
export function end(talk: Talk, reason: RunEnd["reason"], error?: RunEnd["error"]): RunEnd {
  return { reason, text: talk.text, ...(error && { error }), ...(talk.remark !== undefined && { remark: talk.remark }) };
}

/** Tells the model something that nobody said: on record, and in the history. */
export async function remind({ deps, messages }: Talk, turn: number, text: string): Promise<void> {
  const { session } = deps;
  await session.record([session.draft("message.user", { turn, content: text, origin: "steering" })], "normal");
  messages.push(userMessage(text, "reminder"));
}

/** Something a person may want to know. */
export function warn({ tell }: Talk, code: string, message: string): void {
  tell({ type: "warning", code, message });
}

/** The id that the model of the next request is asked for by; null: the session's own model has no name. */
export function askedModel({ deps, override }: Talk): string | null {
  return override || deps.session.state.model;
}
