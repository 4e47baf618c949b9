import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { Content } from "@assent/core";
import { createLoopDetector } from "@assent/core/parts";
import { compact } from "./compaction/compact.ts";
import { createContextUsage } from "./compaction/context-usage.ts";
import type { ConversationDeps, ConversationState, RunEnd } from "./conversation-state.ts";
import { userMessage } from "./history/messages.ts";
import { forkedMessages } from "./history/recorded-history.ts";
import { createCapabilities } from "./model/capability.ts";
import { createPlanSteering } from "./steering/plan-mode.ts";
import { createSteering, type Steering } from "./steering/steering.ts";
import { consultSessionStart, isAgent, loopHookInput, submitPrompt, tellContext } from "./turn/hooks.ts";
import { runTurns } from "./turn/run-turns.ts";
import { createStopHook } from "./turn/stop-hook.ts";

/** A conversation with a model, on one session. */
export type Conversation = {
  /** Sends a prompt and runs turns until the model is done. Never rejects because of a model or a tool. */
  readonly send: (prompt: Content, signal: AbortSignal) => Promise<RunEnd>;
  /** Continues where an earlier process stopped, or with queued notices. Every call of the last turn must have its result. */
  readonly resume: (signal: AbortSignal) => Promise<RunEnd>;
  /** Replaces older turns with a summary. Returns false if the history did not change. */
  readonly compact: (signal: AbortSignal) => Promise<boolean>;
  /** The history for a fork. `unanswered` gives a result to calls that have none yet. */
  readonly fork: (unanswered: (callId: string) => string) => Promise<LanguageModelV4Message[]>;
  readonly steering: Steering;
  /** True if the model has nothing left to answer. */
  readonly isFinished: () => boolean;
};

/** Creates a conversation that continues `messages`. The list only grows, except when a summary replaces its beginning. */
export function createConversation(deps: ConversationDeps, messages: LanguageModelV4Message[] = []): Conversation {
  const state = createState(deps, messages);
  const { session } = deps;
  return {
    steering: state.steering,
    isFinished: () => messages.length === 0 || messages.at(-1)?.role === "assistant",
    fork: (unanswered) => forkedMessages(messages, session, state.answering, unanswered),
    compact: (signal) => compact(state, { turn: session.state.turn + 1, trigger: "manual", signal }),
    resume: async (signal) => {
      state.planning.reset();
      state.newPrompt = false;
      await consultSessionStart(state, signal);
      return await runTurns(state, signal);
    },
    send: async (prompt, signal) => {
      state.text = "";
      await consultSessionStart(state, signal);
      const submitted = await submitPrompt(state, prompt, signal);
      if ("refused" in submitted) return submitted.refused;
      await addPrompt(state, prompt);
      if (submitted.opinion) await tellContext(state, submitted.opinion);
      return await runTurns(state, signal);
    },
  };
}

async function addPrompt(state: ConversationState, prompt: Content): Promise<void> {
  const { session } = state.deps;
  state.detector.reset();
  state.planning.reset();
  state.newPrompt = true;
  state.fresh = true;
  state.firstBatch = true;
  state.origin = "user";
  const turn = session.state.turn + 1;
  await session.record([session.draft("message.user", { turn, content: prompt, origin: "user" })], "normal");
  state.messages.push(userMessage(prompt, "user"));
}

function createState(deps: ConversationDeps, messages: LanguageModelV4Message[]): ConversationState {
  const { session, agent, hooks } = deps;
  const steering = createSteering({ session, mode: deps.steering });
  const event = agent ? "subagent_stop" : "stop";
  return {
    deps,
    emit: (conversationEvent) => {
      try {
        deps.observe?.(conversationEvent);
      } catch {
        // An observer must not change the run.
      }
    },
    messages,
    steering,
    planning: createPlanSteering({ session, plan: deps.plan, steering, system: deps.system() }),
    capabilities: deps.capabilities ?? createCapabilities(),
    detector: createLoopDetector({
      ...(deps.maxConsecutiveToolCalls !== undefined && { threshold: deps.maxConsecutiveToolCalls }),
      pollSafe: (name) => deps.tools().get(name)?.pollSafe === true,
    }),
    contextUsage: createContextUsage(),
    stopHook: createStopHook({
      hooks: agent || !isAgent(deps) ? hooks : undefined, // an agent without `agent` has its stop hooks elsewhere
      event,
      limit: deps.stopHookLimit,
      input: () => ({ ...loopHookInput(deps, event), ...(agent && { agent_id: agent.id, agent_type: agent.type }) }),
    }),
    modelOverride: "",
    text: "",
    newPrompt: false,
    fresh: true,
    firstBatch: true,
    origin: "user",
    sessionStartSent: false,
    answering: undefined,
    compactFrom: 0,
    remark: undefined,
  };
}
