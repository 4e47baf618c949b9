import type { LanguageModelV4, LanguageModelV4Message } from "@ai-sdk/provider";
import type { AssistantPart, Clock, DispatchEvent, Dispatcher, Hooks, Ids, Maybe, ProposalRow, Registry, Session } from "@assent/core";
import type { createLoopDetector } from "@assent/core/parts";
import type { ContextUsage } from "./compaction/context-usage.ts";
import { userMessage } from "./history/messages.ts";
import type { RunLimits } from "./limits/run-limits.ts";
import type { Capabilities } from "./model/capability.ts";
import type { ModelAnswer } from "./model/stream-answer.ts";
import type { StreamEvent } from "./model/stream-events.ts";
import type { PlanSteering } from "./steering/plan-mode.ts";
import type { Steering, SteeringMode } from "./steering/steering.ts";
import type { StopHook } from "./turn/stop-hook.ts";

/** What `observe` receives while a conversation runs. */
export type ConversationEvent =
  /** Parts of an answer as they stream in. A retried request streams its answer again from the start. */
  | (StreamEvent & { readonly turn: number })
  /** A recorded answer. If it broke off, `stop` is `aborted` or `error`. */
  | { readonly type: "assistant"; readonly turn: number; readonly answer: ModelAnswer }
  | { readonly type: "reminder"; readonly turn: number; readonly text: string; readonly displayText: string }
  | {
      readonly type: "notice";
      readonly turn: number;
      readonly text: string;
      readonly displayText: string;
      readonly origin: "notice" | "schedule";
      readonly ids: readonly string[];
    }
  | { readonly type: "dispatch"; readonly turn: number; readonly event: DispatchEvent }
  | { readonly type: "parked"; readonly proposal: ProposalRow }
  | { readonly type: "compacted"; readonly turn: number; readonly through: number; readonly summary: string }
  | { readonly type: "warning"; readonly code: string; readonly message: string };

/** What a conversation needs. */
export type ConversationDeps = {
  readonly session: Session;
  readonly dispatcher: Dispatcher;
  readonly tools: () => Registry;
  /** Returns the model with this id; null means the session's own. */
  readonly model: (id: string | null, signal?: AbortSignal) => Maybe<LanguageModelV4>;
  readonly system: () => string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly steering: () => SteeringMode;
  readonly capabilities?: Capabilities;
  /** Equal batches in a row before the model is warned. */
  readonly maxConsecutiveToolCalls?: number;
  /** Turns of one run of an agent. */
  readonly maxTurns?: number;
  /** Limits of the whole run, agents included. Pass its `claim` to the dispatcher as `mayClaim`. */
  readonly limits?: RunLimits;
  /** Aborts with an error that fails the run, such as an unmet expectation of a script. */
  readonly halt?: AbortSignal;
  readonly hooks?: Hooks;
  /** How often in a row stop hooks may keep a run going. Default: 8. */
  readonly stopHookLimit?: number;
  /** How the session started, for hooks. Default: depends on whether there is a history. */
  readonly source?: "startup" | "resume" | "clear";
  /** Set for an agent started by another one: its id and the name of its definition. */
  readonly agent?: { readonly id: string; readonly type: string };
  /** Context size of a model in tokens. Overrides the built-in table. */
  readonly contextSize?: (modelId: string) => number | undefined;
  /** Reads the current plan in plan mode. Without it, no plan can be proposed. */
  readonly plan?: () => Promise<string | undefined>;
  /** What happens to a call that needs a person when no person can be asked. `fail` ends the run. */
  readonly onAsk?: "deny" | "park" | "fail";
  /** True if a person may answer questions of the model, now or later. */
  readonly canAsk?: boolean;
  /** Hides secrets in recorded provider errors. */
  readonly redact?: (text: string) => string;
  readonly observe?: (event: ConversationEvent) => void;
};

/** How a run of turns ended. */
export type RunEnd = {
  /** `turn_limit` and `budget`: the error names the limit. `stopped`: a hook ended the run or refused the prompt. */
  readonly reason: "done" | "parked" | "cancelled" | "failed" | "turn_limit" | "budget" | "stopped";
  readonly text: string;
  readonly error?: { readonly type: string; readonly message: string; readonly hint?: string };
  /** An addition for people, such as "stop hook limit reached". */
  readonly remark?: string;
};

export type ConversationState = {
  readonly deps: ConversationDeps;
  /** Calls `observe`. What an observer throws is ignored. */
  readonly emit: (event: ConversationEvent) => void;
  readonly messages: LanguageModelV4Message[];
  readonly steering: Steering;
  readonly planning: PlanSteering;
  readonly capabilities: Capabilities;
  readonly detector: ReturnType<typeof createLoopDetector>;
  readonly contextUsage: ContextUsage;
  readonly stopHook: StopHook;
  modelOverride: string;
  text: string;
  /** The next turn is the first after a person's prompt. */
  newPrompt: boolean;
  /** The next turn is the first after a person's prompt, or the first of this process. */
  fresh: boolean;
  /** No calls were dispatched since the last prompt. */
  firstBatch: boolean;
  origin: "user" | "notice" | "schedule";
  sessionStartSent: boolean;
  /** The answer whose calls are running, and the ledger sequence before it. */
  answering: { readonly parts: readonly AssistantPart[]; readonly seq: number } | undefined;
  /** How many answers the history needs before it is compacted automatically again. */
  compactFrom: number;
  remark: string | undefined;
};

export function endRun(state: ConversationState, reason: RunEnd["reason"], error?: RunEnd["error"]): RunEnd {
  return { reason, text: state.text, ...(error && { error }), ...(state.remark !== undefined && { remark: state.remark }) };
}

/** Records a text of the runtime for the model and appends it to the history. */
export async function remindModel({ deps, messages }: ConversationState, turn: number, text: string): Promise<void> {
  const { session } = deps;
  await session.record([session.draft("message.user", { turn, content: text, origin: "steering" })], "normal");
  messages.push(userMessage(text, "reminder"));
}

export function emitWarning({ emit }: ConversationState, code: string, message: string): void {
  emit({ type: "warning", code, message });
}

/** The id of the model for the next request; null if the session's own model has no id. */
export function nextModelId({ deps, modelOverride }: ConversationState): string | null {
  return modelOverride || deps.session.state.model;
}
