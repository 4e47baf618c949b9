import {
  APICallError,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4Message,
  type LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import type { Clock, Maybe } from "@assent/core";
import { findMismatch } from "./expectation.ts";
import { type AgentScript, type Script, type ScriptedTurn, ScriptFailure } from "./script.ts";

/** Plays a script, with one position per agent. */
export type ScriptPlayer = {
  /** The model of the conversation, with this id. */
  readonly model: (id?: string) => LanguageModelV4;
  /** The model of a new agent. It starts at its first turn, or after the turn of its newest answer. */
  readonly agent: (name: string, options?: ScriptedAgentOptions) => ScriptedAgent;
  /** Continues after the turn with this provider id (`script:3`). */
  readonly resumeAfter: (providerId: string | null) => void;
  /** Throws `ScriptFailure` if turns are left, of the conversation or of an agent. */
  readonly assertUsed: () => void;
  /** Aborts the whole run with the `ScriptFailure` of an agent. */
  readonly failed: AbortSignal;
};

/** Options of a scripted agent. */
export type ScriptedAgentOptions = {
  readonly id?: string | undefined;
  /** The provider id of its newest answer (`script:3`), if any. */
  readonly after?: string | null | undefined;
};

/** The model of an agent, on its part of the script. */
export type ScriptedAgent = LanguageModelV4 & {
  /** The same model under another id. */
  readonly as: (id: string) => LanguageModelV4;
  /** Continues after the turn with this provider id. */
  readonly resumeAfter: (providerId: string | null) => void;
  /** Throws `ScriptFailure` if turns of this agent are left. */
  readonly assertUsed: () => void;
};

const PROVIDER = "script";
/** Reserved: no agent has this name. */
const MAIN = "main";

type Position = {
  readonly name: string;
  readonly script: AgentScript;
  at: number;
  /** The last message of the previous request. */
  seen: LanguageModelV4Message | undefined;
  /** Aborted if an expectation of an agent failed; then every request fails. */
  readonly halt: AbortController;
};

/** Plays a script as a model. */
export function playScript(script: Script, clock: Clock): ScriptPlayer {
  const halt = new AbortController();
  const main: Position = { name: MAIN, script, at: 0, seen: undefined, halt };
  const models = new Map<string, LanguageModelV4>();
  let left: ScriptFailure | undefined;
  return {
    model: (id = PROVIDER) => {
      const known = models.get(id);
      if (known) return known;
      const made = modelAt(main, id, clock);
      models.set(id, made);
      return made;
    },
    agent: (name, { id = PROVIDER, after = null } = {}) => {
      const own = script.agents && Object.hasOwn(script.agents, name) ? script.agents[name] : undefined;
      const position: Position = { name, script: own ?? { turns: [] }, at: 0, seen: undefined, halt };
      resume(position, after);
      return {
        ...modelAt(position, id, clock),
        as: (other) => modelAt(position, other, clock),
        resumeAfter: (providerId) => resume(position, providerId),
        assertUsed: () => {
          const failure = unused(position, `The agent ${name} ended`);
          left ??= failure;
          if (failure) throw failure;
        },
      };
    },
    resumeAfter: (providerId) => resume(main, providerId),
    assertUsed: () => {
      const failure = left ?? unused(main, "The run ended");
      if (failure) throw failure;
    },
    failed: halt.signal,
  };
}

function resume(position: Position, providerId: string | null): void {
  const turn = /^script:(\d+)$/.exec(providerId ?? "")?.[1];
  if (turn !== undefined) position.at = Math.max(position.at, Number(turn));
}

function unused({ script, at }: Position, ended: string): ScriptFailure | undefined {
  const left = script.turns.length - at;
  if (left <= 0 || script.allowUnused === true) return undefined;
  const turns = left === 1 ? "turn of the script was" : "turns of the script were";
  return new ScriptFailure("script_unused", `${ended} and ${left} ${turns} not used.`);
}

function modelAt(position: Position, modelId: string, clock: Clock): LanguageModelV4 {
  const answer = (options: LanguageModelV4CallOptions): Maybe<TakenTurn> => takeTurn(position, options, modelId, clock);
  return {
    specificationVersion: "v4",
    provider: PROVIDER,
    modelId,
    supportedUrls: {},
    doGenerate: async (options) => {
      const { turn, number } = await answer(options);
      const content = [...(turn.say === undefined ? [] : [{ type: "text" as const, text: turn.say }]), ...callsOf(turn, number)];
      const { finishReason, usage } = finishOf(turn);
      return { content, finishReason, usage, warnings: [], response: { id: `${PROVIDER}:${number}`, modelId } };
    },
    doStream: async (options) => {
      const { turn, number } = await answer(options);
      return { stream: streamOf(parts(turn, { number, modelId })) };
    },
  };
}

function streamOf<T>(items: readonly T[]): ReadableStream<T> {
  return new ReadableStream<T>({
    start: (controller) => {
      for (const item of items) controller.enqueue(item);
      controller.close();
    },
  });
}

type TakenTurn = { readonly turn: ScriptedTurn; readonly number: number };
/** Returns the next turn after checking its expectation and waiting for its delay. */
function takeTurn(position: Position, options: LanguageModelV4CallOptions, modelId: string, clock: Clock): Maybe<TakenTurn> {
  position.halt.signal.throwIfAborted();
  const turn = position.script.turns[position.at];
  const number = position.at + 1;
  if (!turn) throw exhausted(position);
  position.at = number;
  const fault = turn.expect && findMismatch(turn.expect, { options, fresh: freshIn(options.prompt, position.seen), model: modelId });
  position.seen = options.prompt.at(-1);
  if (fault !== undefined) throw unexpected(position, `Script of ${position.name}, turn ${number}: ${fault}`);
  const given = (): TakenTurn => {
    if (turn.error) throw failure(turn.error);
    return { turn, number };
  };
  return turn.delayMs === undefined ? given() : delay(turn.delayMs, clock, options.abortSignal).then(given);
}

function exhausted({ name, script: { turns } }: Position): ScriptFailure {
  const [whose, where] = name === MAIN ? ["", ""] : [` for the agent ${name}`, " under agents"];
  const count = turns.length === 0 ? "no turn" : turns.length === 1 ? "only 1 turn" : `only ${turns.length} turns`;
  const message = `The script has ${count}${whose}, and the model was asked once more. Add what it says next${where}, for example: - say: Done.`;
  return new ScriptFailure("script_exhausted", message);
}

/** A failed expectation of an agent ends the whole run. */
function unexpected({ halt, name }: Position, message: string): ScriptFailure {
  const failed = new ScriptFailure("expectation_failed", message);
  if (name !== MAIN) halt.abort(failed);
  return failed;
}

/** The messages after those of the previous request, or after the newest answer in the first request of a process. */
function freshIn(prompt: readonly LanguageModelV4Message[], seen: LanguageModelV4Message | undefined): readonly LanguageModelV4Message[] {
  const last = seen === undefined ? -1 : prompt.lastIndexOf(seen);
  return prompt.slice((last < 0 ? prompt.findLastIndex(({ role }) => role === "assistant") : last) + 1);
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

/** Only overload errors are retried; the next turn answers the retry. */
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

type Finish = Extract<LanguageModelV4StreamPart, { readonly type: "finish" }>;

function finishOf({ calls, truncated, usage }: ScriptedTurn): Finish {
  const reason = truncated ? "length" : calls && calls.length > 0 ? "tool-calls" : "stop";
  return {
    type: "finish",
    finishReason: { unified: reason, raw: undefined },
    usage: {
      inputTokens: { total: usage?.inputTokens, noCache: undefined, cacheRead: usage?.cachedInputTokens, cacheWrite: undefined },
      outputTokens: { total: usage?.outputTokens, text: undefined, reasoning: undefined },
    },
  };
}

function parts(
  turn: ScriptedTurn,
  { number, modelId }: { readonly number: number; readonly modelId: string },
): readonly LanguageModelV4StreamPart[] {
  return [
    { type: "stream-start", warnings: [] },
    { type: "response-metadata", id: `${PROVIDER}:${number}`, modelId },
    ...(turn.say === undefined ? [] : textParts(turn.say)),
    ...callsOf(turn, number),
    finishOf(turn),
  ];
}

function textParts(text: string): readonly LanguageModelV4StreamPart[] {
  const words = text.match(/\S+\s*|\s+/g) ?? [];
  return [
    { type: "text-start", id: "t" },
    ...words.map((delta) => ({ type: "text-delta" as const, id: "t", delta })),
    { type: "text-end", id: "t" },
  ];
}
