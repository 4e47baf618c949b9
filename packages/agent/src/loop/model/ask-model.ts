import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { Tool } from "@assent/core";
import { compact } from "../compaction/compact.ts";
import { refusesLength } from "../compaction/context-usage.ts";
import { type Talk, warn } from "../conversation-state.ts";
import type { Lead } from "../steering/steering.ts";
import { refusesChoice } from "./capability.ts";
import { providerFailure, withoutStop } from "./provider-failure.ts";
import { buildRequest } from "./request.ts";
import { withRetries } from "./retry.ts";
import { BrokenAnswer, type ModelAnswer, streamAnswer } from "./stream-answer.ts";
import type { StreamEvent } from "./stream-events.ts";

/** One turn's request. */
export type Asking = {
  readonly turn: number;
  readonly lead: Lead;
  readonly tools: readonly Tool[];
  readonly model: LanguageModelV4;
  /** What the model was asked for by. */
  readonly modelId: string;
  readonly signal: AbortSignal;
};

/**
 * Asks the model. A provider that refuses a forced choice is asked the same again, one level lower, and one that refuses the length is asked again with
 * a smaller history, while it can be made smaller; that is neither an error nor an unheeded turn.
 */
export async function askModel(talk: Talk, asking: Asking): Promise<ModelAnswer> {
  const { clock } = talk.deps;
  for (;;) {
    const began = clock.now();
    try {
      const answer = await request(talk, asking);
      count(talk, asking, { answer, began });
      return answer;
    } catch (error) {
      count(talk, asking, { answer: error instanceof BrokenAnswer ? error.partial : undefined, began });
      if (!lowersChoice(talk, asking, error) && !(await shortens(talk, asking, error))) throw error;
    }
  }
}

type Answered = { readonly answer: ModelAnswer | undefined; readonly began: number };

function count({ deps, usage }: Talk, { modelId }: Asking, { answer, began }: Answered): void {
  usage.waited(deps.clock.now() - began);
  if (!answer) return;
  usage.add(modelId, answer.usage);
  deps.limits?.spend(answer.usage, modelId);
}

function lowersChoice({ capabilities }: Talk, { lead, model, signal }: Asking, error: unknown): boolean {
  return !signal.aborted && isForced(lead) && refusesChoice(error) && capabilities.lower(model);
}

async function shortens(talk: Talk, { turn, signal }: Asking, error: unknown): Promise<boolean> {
  return !signal.aborted && refusesLength(error) && (await compact(talk, { turn, trigger: "auto", signal }));
}

function request(talk: Talk, { turn, lead, tools, model, modelId, signal }: Asking): Promise<ModelAnswer> {
  const { deps, messages, capabilities } = talk;
  const capability = isForced(lead) ? capabilities.of(model) : "auto";
  const options = buildRequest({ messages, system: deps.system(), tools, choice: lead.choice, capability, signal });
  const heard = deps.observe && ((event: StreamEvent): void => talk.tell({ ...event, turn }));
  return withRetries(() => streamAnswer(model, options, heard), {
    clock: deps.clock,
    signal,
    retrying: ({ delayMs, error }) =>
      warn(talk, "provider_retry", `${withoutStop(providerFailure(error, modelId).message)}; trying again in ${delayMs} ms`),
  });
}

function isForced({ choice }: Lead): boolean {
  return choice === "required" || typeof choice === "object";
}
