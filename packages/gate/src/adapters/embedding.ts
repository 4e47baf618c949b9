import {
  type Batch,
  type BatchReport,
  type CallReport,
  type Content,
  type DispatchEvent,
  type Dispatcher,
  type Json,
  listOfferedTools,
  type OutcomeState,
  type ProposedCall,
  type Registry,
  readCallRecord,
  resultValue,
  type Session,
  type Tool,
  type ToolResult,
} from "@assent/core";
import { NO_OUTPUT, resolveModelOverride } from "@assent/core/parts";
import { GateUsageError } from "../gate-error.ts";

/** What your own loop needs. Every call it makes goes through this dispatcher. */
export type Embedding = {
  readonly session: Session;
  readonly dispatcher: Dispatcher;
  readonly tools: Registry;
  /** True if a person may answer questions of the model, now or later. Then `ask` is offered. */
  readonly canAsk?: boolean;
  readonly agentName?: string;
  readonly observe?: (event: DispatchEvent) => void;
};

/** One call of your loop, as plain JSON. `id` is the provider's and `callId` ours; they differ if an id came twice. */
export type EmbeddedCall = {
  readonly id: string;
  readonly callId: string;
  readonly tool: string;
  readonly content: Content;
  /** What the tool returned: a JSON value, or its text. The model gets `content`, which may be shorter, or say more. */
  readonly value?: Json;
} & (
  | { readonly outcome: OutcomeState; readonly type: string | null }
  /** Not run yet: a person must answer first. Without `approvalId`, an earlier call holds it up. */
  | { readonly outcome: "waiting"; readonly type: "waiting"; readonly approvalId?: string }
);

/** Why the loop must not ask the model again yet. */
export type RunStop = {
  readonly reason: "parked" | "stopped" | "interrupted" | "unanswered" | "failed" | "loop";
  readonly message: string;
};

/** The results of one turn's calls, in call order. */
export type TurnOutcome = {
  readonly calls: readonly EmbeddedCall[];
  readonly stop?: RunStop;
  /** Add this to the next request: the model repeats itself. */
  readonly warning?: string;
  /** The model that a tool or its result wants for the next request. */
  readonly model?: string;
};

/** Options of one turn. */
export type EmbeddedTurn = {
  readonly signal?: AbortSignal | undefined;
  /** A person sent a message since the last calls. */
  readonly newPrompt?: boolean;
  /** The model's output was cut at its token limit. */
  readonly truncated?: boolean;
};

/** Runs the turns of a loop. Adapters need no more of a session than this. */
export type TurnRunner = {
  /** Throws if a tool of a running turn asks for another turn, which would wait for itself. */
  readonly refuseNested?: () => void;
  readonly offered: () => readonly Tool[];
  readonly dispatch: (calls: readonly ProposedCall[], turn: EmbeddedTurn) => Promise<TurnOutcome>;
  readonly resume: (earlier: readonly EmbeddedCall[], signal?: AbortSignal) => Promise<TurnOutcome>;
};

/** The turns of an open session. */
export function embeddedTurns(embedding: Embedding): TurnRunner {
  return {
    offered: () => listOfferedTools(embedding.tools, embedding),
    dispatch: (calls, turn) => dispatchTurn(embedding, calls, turn),
    resume: (earlier, signal) => resumeTurn(embedding, earlier, signal),
  };
}

/** Decides and runs the calls of one turn. */
export async function dispatchTurn(
  { dispatcher, tools, agentName, observe }: Embedding,
  calls: readonly ProposedCall[],
  { signal = new AbortController().signal, newPrompt = false, truncated = false }: EmbeddedTurn,
): Promise<TurnOutcome> {
  const batch: Batch = { calls, tools, signal, newPrompt, truncated, ...(agentName !== undefined && { agentName }) };
  const report = await dispatcher.process(batch, observe);
  const results = report.results.map((ended) => (ended.outcome === "waiting" ? undefined : ended.result));
  const model = resolveModelOverride(calls, results, (name) => tools.get(name)?.definition.modelOverride);
  const ended = report.results.map((result, at) => toEmbeddedCall(result, calls[at]?.id, calls[at]?.name ?? ""));
  const outcome = withStop(ended, { dispatcher, report });
  return model === "" ? outcome : { ...outcome, model };
}

/** Resumes waiting calls, also in another process. Returns every call of the turn; those that had ended are unchanged. */
export async function resumeTurn(
  embedding: Embedding,
  earlier: readonly EmbeddedCall[],
  signal: AbortSignal = new AbortController().signal,
): Promise<TurnOutcome> {
  const { dispatcher, tools, agentName, observe } = embedding;
  const report = await dispatcher.resume({ tools, signal, ...(agentName !== undefined && { agentName }) }, observe);
  const settled = new Map(report.results.map((result) => [result.callId, result]));
  const calls: EmbeddedCall[] = [];
  for (const call of earlier) {
    const result = settled.get(call.callId);
    if (call.outcome !== "waiting") calls.push(call);
    else calls.push(result ? toEmbeddedCall(result, call.id, call.tool) : await readRecordedCall(embedding, call));
  }
  return withStop(calls, { dispatcher, report });
}

/** The call ended in another process, so its result comes from the record. */
async function readRecordedCall({ session }: Embedding, call: EmbeddedCall): Promise<EmbeddedCall> {
  const { "call.ended": ended, "call.proposed": proposed } = await readCallRecord(session.ledger, session.id, call.callId);
  if (!proposed)
    throw new GateUsageError("bad_call", `Session ${session.id} has no call '${call.callId}'. Resume it in the session that made it.`);
  if (!ended) return call;
  return endedCall(call, ended, ended);
}

type CallIds = Pick<EmbeddedCall, "id" | "callId" | "tool">;
type CallEnd = { readonly outcome: OutcomeState; readonly type: string | null };
type GivenResult = Pick<ToolResult, "content" | "value">;

function endedCall({ id, callId, tool }: CallIds, { outcome, type }: CallEnd, result: GivenResult): EmbeddedCall {
  const { content } = result;
  const value = presentValue(outcome, result);
  return value === undefined ? { id, callId, tool, outcome, type, content } : { id, callId, tool, outcome, type, content, value };
}

/** What the tool returned; undefined if it returned nothing or did not succeed. */
function presentValue(outcome: OutcomeState, result: GivenResult): Json | undefined {
  const { content } = result;
  const value = resultValue(result);
  if (value !== undefined) return value;
  return outcome === "succeeded" && typeof content === "string" && !isWithoutOutput(content) ? content : undefined;
}

/** True for the content of a call that returned nothing; a hook or an edit may have added words. */
export function isWithoutOutput(content: Content): boolean {
  return typeof content === "string" && content.includes(NO_OUTPUT) && content.split("\n").includes(NO_OUTPUT);
}

function toEmbeddedCall(report: CallReport, givenId: string | undefined, tool: string): EmbeddedCall {
  const { callId } = report;
  const id = givenId || callId;
  if (report.outcome !== "waiting") return endedCall({ id, callId, tool }, report, report.result);
  const { approvalId } = report;
  const waiting = { id, callId, tool, outcome: "waiting", type: "waiting" } as const;
  if (approvalId === undefined) return { ...waiting, content: "Not run: an earlier call of this turn waits for a person's approval." };
  return { ...waiting, approvalId, content: `Not run: it waits for a person's approval (${approvalId}).` };
}

type TurnReport = { readonly dispatcher: Dispatcher; readonly report: BatchReport };

function withStop(calls: readonly EmbeddedCall[], { dispatcher, report }: TurnReport): TurnOutcome {
  const stop = findStop(calls, { dispatcher, report });
  return stop ? { calls, stop } : { calls };
}

/** Says what a person must do before parked calls can run. */
export function parkedMessage(approvals: readonly string[]): string {
  return `Waits for approval ${approvals.join(", ") || "of an earlier call"}. Answer with gate.answer or 'assent approve', then resume.`;
}

/** 1. the record failed 2. a call waits 3. a hook ended the run 4. a person ended the turn, or was needed */
function findStop(calls: readonly EmbeddedCall[], { dispatcher, report }: TurnReport): RunStop | undefined {
  const failure = dispatcher.failure();
  if (failure !== undefined) return { reason: "failed", message: failure instanceof Error ? failure.message : String(failure) };
  const waiting = calls.filter((call) => call.outcome === "waiting");
  if (waiting.length > 0) return { reason: "parked", message: parkedMessage(waiting.flatMap(({ approvalId }) => approvalId ?? [])) };
  if (report.stopRun) return { reason: "stopped", message: report.stopMessage };
  if (report.endedBy === "interrupted") return { reason: "interrupted", message: "A person rejected a call and ended the turn." };
  if (report.endedBy === "unanswered")
    return { reason: "unanswered", message: "A call needed an answer, but no person can be asked here." };
  return undefined;
}
