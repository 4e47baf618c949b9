import type { LanguageModelV4 } from "@ai-sdk/provider";
import { refusesChoice } from "./capability.ts";
import { compact } from "./compaction.ts";
import { refusesLength } from "./context-room.ts";
import { providerFailure } from "./provider-failure.ts";
import { buildRequest, offeredTools } from "./request.ts";
import { withRetries } from "./retry.ts";
import type { Lead } from "./steering.ts";
import { BrokenAnswer, type ModelAnswer, streamAnswer } from "./stream-answer.ts";
import type { StreamEvent } from "./stream-events.ts";
import { type Talk, warn } from "./talk.ts";

/** One turn's request. */
export type Asking = {
  readonly turn: number;
  readonly lead: Lead;
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
  for (;;) {
    try {
      return await request(talk, asking);
    } catch (error) {
      if (!lowersChoice(talk, asking, error) && !(await shortens(talk, asking, error))) throw error;
    }
  }
}

function lowersChoice({ capabilities }: Talk, { lead, model, signal }: Asking, error: unknown): boolean {
  return !signal.aborted && isForced(lead) && refusesChoice(error) && capabilities.lower(model);
}

async function shortens(talk: Talk, { turn, signal }: Asking, error: unknown): Promise<boolean> {
  return !signal.aborted && refusesLength(error) && (await compact(talk, { turn, trigger: "auto", signal }));
}

async function request(talk: Talk, { turn, lead, model, modelId, signal }: Asking): Promise<ModelAnswer> {
  const { deps, messages, capabilities, usage } = talk;
  const options = buildRequest({
    messages,
    system: deps.system(),
    tools: offeredTools(deps.tools(), deps.session, deps.asks),
    choice: lead.choice,
    capability: capabilities.of(model),
    signal,
  });
  const began = deps.clock.now();
  const count = (answer: ModelAnswer | undefined): void => {
    if (!answer) return;
    usage.add(modelId, answer.usage);
    deps.limits?.spend(answer.usage, modelId);
  };
  try {
    const heard = deps.observe && ((event: StreamEvent): void => talk.tell({ ...event, turn }));
    const answer = await withRetries(() => streamAnswer(model, options, heard), {
      clock: deps.clock,
      signal,
      retrying: ({ delayMs, error }) => warn(talk, "provider_retry", `${providerFailure(error).message}; trying again in ${delayMs} ms`),
    });
    count(answer);
    return answer;
  } catch (error) {
    count(error instanceof BrokenAnswer ? error.partial : undefined);
    throw error;
  } finally {
    usage.waited(deps.clock.now() - began);
  }
}

function isForced({ choice }: Lead): boolean {
  return choice === "required" || typeof choice === "object";
}
