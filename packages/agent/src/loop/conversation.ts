import type { LanguageModelV4, LanguageModelV4Message } from "@ai-sdk/provider";
import {
  type Clock,
  type Content,
  createLoopDetector,
  type DispatchEvent,
  type Dispatcher,
  type Ids,
  type Maybe,
  type ProposalRow,
  type Registry,
  type Session,
} from "@assent/core";
import { type Capabilities, createCapabilities } from "./capability.ts";
import { userMessage } from "./history.ts";
import { createPlanConvergence } from "./plan-convergence.ts";
import { runTurns, type Talk } from "./run-turns.ts";
import { createSteering, type Steering, type SteeringMode } from "./steering.ts";
import type { ModelAnswer, StreamDelta } from "./stream-answer.ts";

/** What is heard of a conversation while it goes on. */
export type ConversationEvent =
  | { readonly type: "delta"; readonly turn: number; readonly delta: StreamDelta }
  | { readonly type: "assistant"; readonly turn: number; readonly answer: ModelAnswer }
  | { readonly type: "reminder" | "notice"; readonly turn: number; readonly text: string; readonly displayText: string }
  | { readonly type: "dispatch"; readonly turn: number; readonly event: DispatchEvent }
  | { readonly type: "parked"; readonly proposal: ProposalRow }
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
  readonly maxTurns?: number;
  /** The plan of a session in plan mode, as it is written now. Absent: no plan can be proposed here. */
  readonly plan?: () => Promise<string | undefined>;
  /** What becomes of an ask where nobody can be asked: `fail` ends the run. */
  readonly onAsk?: "deny" | "park" | "fail";
  /** Somebody may answer a question of the model, now or later; absent: nobody. */
  readonly asks?: boolean;
  readonly observe?: (event: ConversationEvent) => void;
};

/** How a run of turns ended. */
export type RunEnd = {
  readonly reason: "done" | "parked" | "cancelled" | "failed" | "turn_limit" | "stopped";
  /** The newest text of the model. */
  readonly text: string;
  readonly error?: { readonly type: string; readonly message: string };
};

/** One conversation with a model, on one session. */
export type Conversation = {
  /** Says something to the model and lets it work until it has nothing more to do. Never rejects for what a model or tool does. */
  readonly send: (prompt: Content, signal: AbortSignal) => Promise<RunEnd>;
  /** Goes on where an earlier process left it: every call of its last turn has its result by now. */
  readonly goOn: (signal: AbortSignal) => Promise<RunEnd>;
  readonly steering: Steering;
};

/** A conversation that goes on after `messages`. The list is only ever added to, and is what every request carries. */
export function createConversation(deps: ConversationDeps, messages: LanguageModelV4Message[] = []): Conversation {
  const steering = createSteering({ session: deps.session, mode: deps.steering });
  const state: Talk = {
    deps,
    messages,
    steering,
    planning: createPlanConvergence({ session: deps.session, plan: deps.plan, steering }),
    capabilities: deps.capabilities ?? createCapabilities(),
    detector: createLoopDetector({
      ...(deps.maxConsecutiveToolCalls !== undefined && { threshold: deps.maxConsecutiveToolCalls }),
      pollSafe: (name) => deps.tools().get(name)?.pollSafe === true,
    }),
    override: "",
    text: "",
    newPrompt: true,
  };
  return {
    steering,
    goOn: async (signal) => {
      state.planning.begin();
      return await runTurns(state, signal);
    },
    send: async (prompt, signal) => {
      const { session } = deps;
      state.detector.reset();
      state.planning.begin();
      state.newPrompt = true;
      const turn = session.state.turn + 1;
      await session.record([session.draft("message.user", { turn, content: prompt, origin: "user" })], "normal");
      messages.push(userMessage(prompt, "user"));
      return await runTurns(state, signal);
    },
  };
}
