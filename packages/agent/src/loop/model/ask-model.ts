import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { Tool } from "@assent/core";
import { compact } from "../compaction/compact.ts";
import { refusesLength } from "../compaction/context-usage.ts";
import { type ConversationState, emitWarning } from "../conversation-state.ts";
import type { TurnSteering } from "../steering/steering.ts";
import { refusesToolChoice } from "./capability.ts";
import { providerFailure, withoutFinalPeriod } from "./provider-failure.ts";
import { buildRequest } from "./request.ts";
import { withRetries } from "./retry.ts";
import { BrokenAnswer, type ModelAnswer, streamAnswer } from "./stream-answer.ts";

export type TurnRequest = {
  readonly turn: number;
  readonly steering: TurnSteering;
  readonly tools: readonly Tool[];
  readonly model: LanguageModelV4;
  readonly modelId: string;
  readonly signal: AbortSignal;
};

/** Asks the model. Asks again with a weaker tool choice if the provider refuses a forced one, and with a compacted history if it is too long. */
export async function askModel(state: ConversationState, request: TurnRequest): Promise<ModelAnswer> {
  const { modelId, signal } = request;
  const { limits } = state.deps;
  for (;;) {
    try {
      const answer = await sendRequest(state, request);
      limits?.spend(answer.usage, modelId);
      return answer;
    } catch (error) {
      if (error instanceof BrokenAnswer && error.partial) limits?.spend(error.partial.usage, modelId);
      if (signal.aborted || !(weakensChoice(state, request, error) || (await shortens(state, request, error)))) throw error;
    }
  }
}

function weakensChoice({ capabilities }: ConversationState, { steering, model }: TurnRequest, error: unknown): boolean {
  return isForced(steering) && refusesToolChoice(error) && capabilities.lower(model);
}

async function shortens(state: ConversationState, { turn, signal }: TurnRequest, error: unknown): Promise<boolean> {
  return refusesLength(error) && (await compact(state, { turn, trigger: "auto", signal }));
}

function sendRequest(state: ConversationState, { turn, steering, tools, model, modelId, signal }: TurnRequest): Promise<ModelAnswer> {
  const { deps, messages, capabilities } = state;
  const capability = isForced(steering) ? capabilities.of(model) : "auto";
  const options = buildRequest({ messages, system: deps.system(), tools, choice: steering.choice, capability, signal });
  return withRetries(() => streamAnswer(model, options, deps.observe && ((event) => state.emit({ ...event, turn }))), {
    clock: deps.clock,
    signal,
    retrying: ({ delayMs, error }) => {
      const failure = withoutFinalPeriod(providerFailure(error, modelId).message);
      emitWarning(state, "provider_retry", `${failure}; trying again in ${delayMs} ms`);
    },
  });
}

function isForced({ choice }: TurnSteering): boolean {
  return choice === "required" || typeof choice === "object";
}
