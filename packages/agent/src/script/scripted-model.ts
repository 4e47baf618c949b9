import { APICallError, type LanguageModelV4, type LanguageModelV4CallOptions, type LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Clock } from "@assent/core";
import { unmet } from "./meet-expectation.ts";
import { type AgentScript, type Script, type ScriptedTurn, ScriptFailure } from "./script.ts";

/** A script that is being played: one position per agent. */
export type ScriptPlayer = {
  /** The model of the conversation itself, asked for by this id. */
  readonly model: (id?: string) => LanguageModelV4;
  /** A new agent of this name begins at its first turn. */
  readonly agent: (name: string, id?: string) => LanguageModelV4;
  /** Goes on after the turn that an assistant message names (`script:3`). */
  readonly resumeAfter: (providerId: string | null) => void;
  /** Throws `ScriptFailure` when turns of the conversation are left. */
  readonly refuseUnused: () => void;
};

/** What names the turn an answer came from. */
const PROVIDER = "script";

type Position = { readonly name: string; readonly script: AgentScript; at: number; seen: number };

/** Plays a script as a model on the same interface as any other. */
export function playScript(script: Script, clock: Clock): ScriptPlayer {
  const main: Position = { name: "main", script, at: 0, seen: 0 };
  return {
    model: (id = PROVIDER) => modelAt(main, id, clock),
    agent: (name, id = PROVIDER) => modelAt({ name, script: script.agents?.[name] ?? { turns: [] }, at: 0, seen: 0 }, id, clock),
    resumeAfter: (providerId) => {
      const turn = /^script:(\d+)$/.exec(providerId ?? "")?.[1];
      if (turn !== undefined) main.at = Math.max(main.at, Number(turn));
    },
    refuseUnused: () => {
      const left = script.turns.length - main.at;
      if (left > 0 && script.allowUnused !== true)
        throw new ScriptFailure(
          "script_unused",
          `The run ended and ${left} ${left === 1 ? "turn" : "turns"} of the script ${left === 1 ? "was" : "were"} not used.`,
        );
    },
  };
}

function modelAt(position: Position, modelId: string, clock: Clock): LanguageModelV4 {
  const answer = (options: LanguageModelV4CallOptions): Promise<Answer> => take(position, { options, modelId, clock });
  return {
    specificationVersion: "v4",
    provider: PROVIDER,
    modelId,
    supportedUrls: {},
    doGenerate: async (options) => {
      const { turn, number } = await answer(options);
      const content = [...(turn.say === undefined ? [] : [{ type: "text" as const, text: turn.say }]), ...callsOf(turn, number)];
      return { content, ...finishOf(turn), warnings: [], response: { id: `${PROVIDER}:${number}`, modelId } };
    },
    doStream: async (options) => {
      const { turn, number } = await answer(options);
      return { stream: ReadableStream.from(parts(turn, { number, modelId })) };
    },
  };
}

type Answer = { readonly turn: ScriptedTurn; readonly number: number };
type Taking = { readonly options: LanguageModelV4CallOptions; readonly modelId: string; readonly clock: Clock };

/** The next turn, once what it expects holds and its delay has passed. */
async function take(position: Position, { options, modelId, clock }: Taking): Promise<Answer> {
  const turn = position.script.turns[position.at];
  const number = position.at + 1;
  if (!turn) throw new ScriptFailure("script_exhausted", `The script of ${position.name} has no turn ${number}.`);
  position.at = number;
  const fault = turn.expect && unmet(turn.expect, { options, from: position.seen, model: modelId });
  position.seen = options.prompt.length;
  if (fault !== undefined) throw new ScriptFailure("expectation_failed", `Script of ${position.name}, turn ${number}: ${fault}`);
  if (turn.delayMs !== undefined) await delay(turn.delayMs, clock, options.abortSignal);
  if (turn.error) throw failure(turn.error);
  return { turn, number };
}

function delay(ms: number, clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = (): void => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.timer(ms, () => {
      signal?.removeEventListener("abort", abort);
      resolve();
    });
    signal?.addEventListener("abort", abort, { once: true });
  });
}

/** Only an overload is tried again; the next turn answers it then. */
function failure({ status, message }: NonNullable<ScriptedTurn["error"]>): APICallError {
  const isRetryable = [429, 503, 529].includes(status);
  return new APICallError({ message, url: "script:", requestBodyValues: {}, statusCode: status, responseBody: message, isRetryable });
}

type ScriptedPart = Extract<LanguageModelV4StreamPart, { readonly type: "tool-call" }>;

function callsOf({ calls = [] }: ScriptedTurn, number: number): ScriptedPart[] {
  return calls.map((call, at) => ({
    type: "tool-call",
    toolCallId: call.id ?? `call_${number}_${at + 1}`,
    toolName: call.tool,
    input: call.raw ?? JSON.stringify(call.input ?? {}),
  }));
}

function finishOf({
  calls,
  truncated,
  usage,
}: ScriptedTurn): Pick<Extract<LanguageModelV4StreamPart, { readonly type: "finish" }>, "finishReason" | "usage"> {
  const reason = truncated ? "length" : calls && calls.length > 0 ? "tool-calls" : "stop";
  return {
    finishReason: { unified: reason, raw: undefined },
    usage: {
      inputTokens: { total: usage?.inputTokens, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: usage?.outputTokens, text: undefined, reasoning: undefined },
    },
  };
}

function* parts(
  turn: ScriptedTurn,
  { number, modelId }: { readonly number: number; readonly modelId: string },
): Generator<LanguageModelV4StreamPart> {
  yield { type: "stream-start", warnings: [] };
  yield { type: "response-metadata", id: `${PROVIDER}:${number}`, modelId };
  if (turn.say !== undefined) {
    yield { type: "text-start", id: "t" };
    for (const delta of turn.say.match(/\S+\s*|\s+/g) ?? []) yield { type: "text-delta", id: "t", delta };
    yield { type: "text-end", id: "t" };
  }
  for (const call of callsOf(turn, number)) {
    yield { type: "tool-input-start", id: call.toolCallId, toolName: call.toolName };
    yield { type: "tool-input-delta", id: call.toolCallId, delta: call.input };
    yield { type: "tool-input-end", id: call.toolCallId };
    yield call;
  }
  yield { type: "finish", ...finishOf(turn) };
}
