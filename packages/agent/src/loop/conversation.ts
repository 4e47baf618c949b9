import type { LanguageModelV4, LanguageModelV4Message } from "@ai-sdk/provider";
import type { Clock, Content, DispatchEvent, Dispatcher, Hooks, Ids, Maybe, ProposalRow, Registry, Session } from "@assent/core";
import { createLoopDetector } from "@assent/core/parts";
import { compact } from "./compaction/compact.ts";
import { createContextRoom } from "./compaction/context-usage.ts";
import type { Talk } from "./conversation-state.ts";
import { userMessage } from "./history/messages.ts";
import { forkedMessages } from "./history/recorded-history.ts";
import type { RunLimits } from "./limits/run-limits.ts";
import { type ConversationUsage, createUsageCounter } from "./limits/usage-totals.ts";
import { type Capabilities, createCapabilities } from "./model/capability.ts";
import type { ModelAnswer } from "./model/stream-answer.ts";
import type { StreamEvent } from "./model/stream-events.ts";
import { createPlanConvergence } from "./steering/plan-mode.ts";
import { createSteering, type Steering, type SteeringMode } from "./steering/steering.ts";
import { addContext, greet, loopHookInput, submitPrompt } from "./turn/hooks.ts";
import { runTurns } from "./turn/run-turns.ts";
import { createStopHook } from "./turn/stop-hook.ts";

/** What is heard of a conversation while it goes on. */
export type ConversationEvent =
  /** An answer as it comes. A request that is made again begins its answer anew. */
  | (StreamEvent & { readonly turn: number })
  /** An answer, whole or as far as it came (`stop`: `aborted`, `error`), once it is on record. */
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

/** What a conversation is made of. */
export type ConversationDeps = {
  readonly session: Session;
  readonly dispatcher: Dispatcher;
  readonly tools: () => Registry;
  /** The model of this id; null: the session's own. */
  readonly model: (id: string | null) => Maybe<LanguageModelV4>;
  readonly system: () => string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly steering: () => SteeringMode;
  readonly capabilities?: Capabilities;
  /** Equal batches in a row before the model is warned. */
  readonly maxConsecutiveToolCalls?: number;
  /** Turns of one run; that of an agent. */
  readonly maxTurns?: number;
  /** What the whole run, agents included, may use up. Its `claim` is for the dispatcher's `mayClaim`. */
  readonly limits?: RunLimits;
  /** Aborts with the error that ends the run as failed: a script's expectation that an agent did not meet. */
  readonly halt?: AbortSignal;
  /** Absent: nobody is consulted, and prompts go as they are. */
  readonly hooks?: Hooks;
  /** How often in a row hooks may hold back the end of a run; 8 when absent. */
  readonly stopHookLimit?: number;
  /** How the session began, for hooks; absent: by whether there is a history. */
  readonly source?: "startup" | "resume" | "clear";
  /** This is an agent that another one started, under this id and of this definition's name. */
  readonly agent?: { readonly id: string; readonly type: string };
  /** Tokens that a model takes, where somebody knows better than the table. */
  readonly contextSize?: (modelId: string) => number | undefined;
  /** The plan of a session in plan mode, as it is written now. Absent: no plan can be proposed here. */
  readonly plan?: () => Promise<string | undefined>;
  /** What becomes of an ask where nobody can be asked: `fail` ends the run. */
  readonly onAsk?: "deny" | "park" | "fail";
  /** Somebody may answer a question of the model, now or later; absent: nobody. */
  readonly asks?: boolean;
  /** Hides secrets in what is recorded of a provider's failure. */
  readonly redact?: (text: string) => string;
  readonly observe?: (event: ConversationEvent) => void;
};

/** How a run of turns ended. */
export type RunEnd = {
  /** `turn_limit` and `budget`: a limit is reached, which the error names. `stopped`: a hook ended it, or did not let the prompt pass. */
  readonly reason: "done" | "parked" | "cancelled" | "failed" | "turn_limit" | "budget" | "stopped";
  /** The newest text of the model. */
  readonly text: string;
  readonly error?: { readonly type: string; readonly message: string; readonly hint?: string };
  /** What else is to be said of it: that hooks held the end back as often as they may. */
  readonly remark?: string;
};

/** One conversation with a model, on one session. */
export type Conversation = {
  /** Says something to the model and lets it work until it has nothing more to do. Never rejects for what a model or tool does. */
  readonly send: (prompt: Content, signal: AbortSignal) => Promise<RunEnd>;
  /** Goes on where an earlier process left it, every call of its last turn having its result by now; or with what is queued for the model. */
  readonly goOn: (signal: AbortSignal) => Promise<RunEnd>;
  /** Older turns become a summary now, at a person's wish. False: the history is as it was. */
  readonly compact: (signal: AbortSignal) => Promise<boolean>;
  /** The history as a fork begins with it: what was said so far, and the answer under way with a result for each of its calls. */
  readonly fork: (unanswered: (callId: string) => string) => Promise<LanguageModelV4Message[]>;
  /** What was used in this process. */
  readonly usage: () => ConversationUsage;
  readonly steering: Steering;
  /** The model has said its last word, or nobody has spoken yet: without something new there is nothing to ask it. */
  readonly isAtRest: () => boolean;
};

/** A conversation that goes on after `messages`. The list is only ever added to, but for a summary in place of its beginning, and is what every request carries. */
export function createConversation(deps: ConversationDeps, messages: LanguageModelV4Message[] = []): Conversation {
  const talk = makeTalk(deps, messages);
  const { session } = deps;
  return {
    steering: talk.steering,
    usage: talk.usage.totals,
    isAtRest: () => messages.length === 0 || messages.at(-1)?.role === "assistant",
    fork: (unanswered) => forkedMessages({ messages, session, answering: talk.answering }, unanswered),
    compact: (signal) => compact(talk, { turn: session.state.turn + 1, trigger: "manual", signal }),
    goOn: async (signal) => {
      talk.planning.begin();
      talk.newPrompt = false;
      await greet(talk, signal);
      return await runTurns(talk, signal);
    },
    send: async (prompt, signal) => {
      talk.text = "";
      await greet(talk, signal);
      const submitted = await submitPrompt(talk, prompt, signal);
      if ("refused" in submitted) return submitted.refused;
      await say(talk, prompt);
      await addContext(talk, submitted.context);
      return await runTurns(talk, signal);
    },
  };
}

async function say(talk: Talk, prompt: Content): Promise<void> {
  const { session } = talk.deps;
  talk.detector.reset();
  talk.planning.begin();
  talk.newPrompt = true;
  talk.fresh = true;
  talk.unheard = true;
  talk.origin = "user";
  const turn = session.state.turn + 1;
  await session.record([session.draft("message.user", { turn, content: prompt, origin: "user" })], "normal");
  talk.messages.push(userMessage(prompt, "user"));
}

function guarded(deps: ConversationDeps): (event: ConversationEvent) => void {
  return (event) => {
    try {
      deps.observe?.(event);
    } catch {
      // Whoever looks on has no part in it.
    }
  };
}

function makeTalk(deps: ConversationDeps, messages: LanguageModelV4Message[]): Talk {
  const { session, agent, hooks } = deps;
  const steering = createSteering({ session, mode: deps.steering });
  const event = agent ? "subagent_stop" : "stop";
  const isOwn = agent !== undefined || (session.state.created?.parent ?? null) === null;
  return {
    deps,
    tell: guarded(deps),
    messages,
    steering,
    planning: createPlanConvergence({ session, plan: deps.plan, steering, system: deps.system() }),
    capabilities: deps.capabilities ?? createCapabilities(),
    detector: createLoopDetector({
      ...(deps.maxConsecutiveToolCalls !== undefined && { threshold: deps.maxConsecutiveToolCalls }),
      pollSafe: (name) => deps.tools().get(name)?.pollSafe === true,
    }),
    usage: createUsageCounter(),
    room: createContextRoom(),
    stopHook: createStopHook({
      hooks: isOwn ? hooks : undefined, // an agent that is not told as one has its hooks elsewhere
      event,
      limit: deps.stopHookLimit,
      input: () => ({ ...loopHookInput(deps, event), ...(agent && { agent_id: agent.id, agent_type: agent.type }) }),
    }),
    override: "",
    text: "",
    newPrompt: false,
    fresh: true,
    unheard: true,
    origin: "user",
    greeted: false,
    answering: undefined,
    compactFrom: 0,
    remark: undefined,
  };
}
