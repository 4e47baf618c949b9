import { isObject, type ProposedCall, type Tool } from "@assent/core";
import { type ShownFile, showContent } from "@assent/core/parts";
import { GateUsageError } from "../gate-error.ts";
import type { EmbeddedCall, EmbeddedTurn, TurnOutcome, TurnRunner } from "./embedding.ts";

/**
 * The results of one turn, and the messages for the provider. There are none while a call waits, because providers want all results at
 * once.
 */
export type ProviderTurnOutcome<Message> = TurnOutcome & { readonly messages: Message[] };

/** Connects your loop to the API of one provider. */
export type ProviderAdapter<Declaration, Message> = {
  /** The tool declarations for the next request. */
  readonly tools: () => Declaration[];
  /** Decides and runs the calls in an answer. Other parts are ignored. */
  readonly dispatch: (answer: AnswerParts, turn?: EmbeddedTurn) => Promise<ProviderTurnOutcome<Message>>;
  /** Resumes calls of `dispatch` that waited, also in another process. */
  readonly resume: (calls: readonly EmbeddedCall[], signal?: AbortSignal) => Promise<ProviderTurnOutcome<Message>>;
};

export type AnswerParts = readonly { readonly type: string }[] | null | undefined;

/** How one provider encodes declarations, calls and results. */
export type Wire<Declaration, Message> = {
  readonly declare: (tool: Tool) => Declaration;
  /** What `dispatch` takes, as a program writes it. */
  readonly takes: string;
  /** Returns undefined if the part is not a call of ours. */
  readonly read: (part: Readonly<Record<string, unknown>>) => ProposedCall | undefined;
  readonly tell: (results: readonly TurnResult[]) => Message[];
};

/** The result of one call, in the form every provider needs. */
export type TurnResult = { readonly id: string; readonly ok: boolean; readonly text: string; readonly files: readonly ShownFile[] };

/** Creates the adapter for one provider. */
export function makeAdapter<D, M>(turns: TurnRunner, { declare, takes, read, tell }: Wire<D, M>): ProviderAdapter<D, M> {
  const told = (outcome: TurnOutcome): ProviderTurnOutcome<M> => ({
    ...outcome,
    messages: outcome.calls.some((call) => call.outcome === "waiting") ? [] : tell(outcome.calls.map(turnResult)),
  });
  return {
    tools: () => turns.offered().map(declare),
    dispatch: async (answer, turn = {}) => {
      const parts: unknown = answer ?? [];
      if (!Array.isArray(parts)) throw new GateUsageError("bad_call", `dispatch takes a list: dispatch(${takes}).`);
      const calls = parts.flatMap((part: unknown) => (isObject(part) ? (read(part) ?? []) : []));
      return told(await turns.dispatch(calls, turn));
    },
    resume: async (calls, signal) => told(await turns.resume(calls, signal)),
  };
}

/** The input schema that the model sees. */
export function parametersOf({ inputSchema }: Tool): Record<string, unknown> {
  return isObject(inputSchema) ? { ...inputSchema } : { type: "object" };
}

/** A call as the provider wrote it. Without a valid name it counts as an unknown tool. */
export function proposedCall(id: unknown, name: unknown, given: unknown): ProposedCall {
  return { ...(typeof id === "string" && { id }), name: typeof name === "string" ? name : "", arguments: given };
}

/** A failure has only text. */
function turnResult({ id, outcome, content }: EmbeddedCall): TurnResult {
  const ok = outcome === "succeeded";
  const { text, files } = showContent(content);
  return { id, ok, text, files: ok ? files : [] };
}
