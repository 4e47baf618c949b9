import { isObject, type ProposedCall, type Tool } from "@assent/core";
import { toolMessage } from "../loop/history/messages.ts";
import { listOfferedTools } from "../loop/model/request.ts";
import { dispatchTurn, type EmbeddedCall, type EmbeddedTurn, type Embedding, resumeTurn, type TurnOutcome } from "./embedding.ts";

/** What came of one turn's calls, and what to tell the provider: nothing while a call waits, because it wants all results at once. */
export type ProviderTurnOutcome<Message> = TurnOutcome & { readonly messages: Message[] };

/** A provider's own API for a loop of one's own. */
export type ProviderAdapter<Declaration, Message> = {
  /** The declarations of the tools, for the next request. */
  readonly tools: () => Declaration[];
  /** Judges and runs the calls among the parts of an answer; the rest of it is not touched. */
  readonly dispatch: (answer: AnswerParts, turn: EmbeddedTurn) => Promise<ProviderTurnOutcome<Message>>;
  /** Goes on with calls of `dispatch` that waited, also in another process. */
  readonly resume: (calls: readonly EmbeddedCall[], signal: AbortSignal) => Promise<ProviderTurnOutcome<Message>>;
};

/** Parts of a provider's answer, its calls among them. */
export type AnswerParts = readonly { readonly type: string }[] | null | undefined;

/** How one provider writes declarations, calls and results. */
export type Wire<Declaration, Message> = {
  readonly declare: (tool: Tool) => Declaration;
  /** Undefined: this part is no call of ours. */
  readonly read: (part: Readonly<Record<string, unknown>>) => ProposedCall | undefined;
  readonly tell: (results: readonly TurnResult[]) => Message[];
};

/** A file that a model can look at. */
export type ShownFile = { readonly mediaType: string; readonly data: string; readonly filename: string | undefined };

/** The end of one call as every provider's wire needs it. */
export type TurnResult = { readonly id: string; readonly ok: boolean; readonly text: string; readonly files: readonly ShownFile[] };

/** The adapter for one provider's wire. */
export function makeAdapter<D, M>(embedding: Embedding, { declare, read, tell }: Wire<D, M>): ProviderAdapter<D, M> {
  const told = (embedded: TurnOutcome): ProviderTurnOutcome<M> => ({
    ...embedded,
    messages: embedded.calls.some(({ outcome }) => outcome === "waiting") ? [] : tell(embedded.calls.map(turnResult)),
  });
  return {
    tools: () => listOfferedTools(embedding.tools, embedding).map(declare),
    dispatch: async (answer, turn) => {
      const calls = (answer ?? []).flatMap((part: unknown) => (isObject(part) ? (read(part) ?? []) : []));
      return told(await dispatchTurn(embedding, calls, turn));
    },
    resume: async (calls, signal) => told(await resumeTurn(embedding, calls, signal)),
  };
}

/** What the model is told about a tool's input. */
export function parametersOf({ inputSchema }: Tool): Record<string, unknown> {
  return isObject(inputSchema) ? { ...inputSchema } : { type: "object" };
}

/** The id and name of a call as a provider wrote them; what is none has no name, and so is an unknown tool. */
export function proposedCall(id: unknown, name: unknown, given: unknown): ProposedCall {
  return { ...(typeof id === "string" && { id }), name: typeof name === "string" ? name : "", arguments: given };
}

/** Text and files as the own loop shows them; a failure is told in words alone. */
function turnResult({ id, callId, tool, outcome, type, content }: EmbeddedCall): TurnResult {
  const ok = outcome === "succeeded";
  const message = toolMessage([{ callId, tool, outcome, type, content }]);
  const part = message.role === "tool" ? message.content[0] : undefined;
  const output = part?.type === "tool-result" ? part.output : undefined;
  if (output?.type === "text" || output?.type === "error-text") return { id, ok, text: output.value, files: [] };
  if (output?.type !== "content") return { id, ok, text: "", files: [] };
  const text = output.value.flatMap((piece) => (piece.type === "text" ? [piece.text] : [])).join("\n");
  const files = output.value.flatMap((piece): ShownFile[] => {
    if (piece.type !== "file" || piece.data.type !== "data" || typeof piece.data.data !== "string") return [];
    return [{ mediaType: piece.mediaType, data: piece.data.data, filename: piece.filename }];
  });
  return { id, ok, text, files: ok ? files : [] };
}
