import type { LanguageModelV4 } from "@ai-sdk/provider";
import { type BatchReport, type EventBodies, IllegalEvent, LedgerError, listOfferedTools, messageOf } from "@assent/core";
import { deliverNotices } from "../../notices/deliver.ts";
import { compactIfFull } from "../compaction/compact.ts";
import { type ConversationState, endRun, nextModelId, type RunEnd, remindModel } from "../conversation-state.ts";
import { cutMessages } from "../history/cut-answer.ts";
import { assistantMessage, collectResults, toolMessage, userMessage } from "../history/messages.ts";
import { askModel } from "../model/ask-model.ts";
import { type ProviderFailure, providerFailure } from "../model/provider-failure.ts";
import { BrokenAnswer, type ModelAnswer } from "../model/stream-answer.ts";
import type { TurnSteering } from "../steering/steering.ts";
import { decideNext } from "./decide-next.ts";
import { dispatchCalls, settleSteering } from "./dispatch-calls.ts";
import { consultTurnStart, tellHooks } from "./hooks.ts";

/** Runs one turn. Returns how the run ends, or undefined if another turn follows. */
export async function runTurn(state: ConversationState, signal: AbortSignal): Promise<RunEnd | undefined> {
  const { deps } = state;
  const { session } = deps;
  const turn = session.state.turn + 1;

  // 1. Prepare the request.
  const model = await chooseModel(state, signal);
  if ("error" in model) return await endWithoutModel(state, turn, model.error);
  const modelId = nextModelId(state) ?? model.modelId;
  await compactIfFull(state, { modelId, turn, signal });
  await deliverNotices(state, turn);
  const planReminder = state.planning.modeReminder();
  if (planReminder !== undefined) await remindModel(state, turn, planReminder);
  await consultTurnStart(state, signal);
  const tools = listOfferedTools(deps.tools(), deps);
  const steering = state.steering.next({ active: tools.map(({ name }) => name), newPrompt: state.fresh });
  await recordTurnStart(state, { turn, steering, model });

  // 2. Request, stream, collect calls.
  let answer: ModelAnswer;
  try {
    signal.throwIfAborted(); // preparing may have waited for servers
    answer = await askModel(state, { turn, steering, tools, model, modelId, signal });
  } catch (error) {
    return await endBrokenTurn(state, { turn, modelId, error, signal });
  }

  // 3. Record the answer, then dispatch its calls. Nothing is proposed before the answer is stored.
  if (answer.text !== "") state.text = answer.text;
  state.answering = { parts: answer.parts, seq: session.state.seq };
  await session.record([answerDraft(state, turn, answer)], "normal");
  state.emit({ type: "assistant", turn, answer });
  const report = await dispatchCalls(state, { turn, steering, answer, signal });
  state.answering = undefined;

  // 4. Append the results.
  const stopped = appendResults(state, answer, report);
  if (stopped) return stopped;
  await settleSteering(state, { steering, answer, report });

  // 5. End the turn. Its record shares a commit with the start of the next turn, so only hooks and the end of the run wait for it.
  const turnEnded = session.record([session.draft("turn.ended", { turn, reason: answer.stop })], "normal");
  turnEnded.catch(() => undefined); // the next write fails with the same error
  if (deps.hooks) await turnEnded;
  tellHooks(state, "turn_end", { reason: answer.stop });

  // 6. Decide whether another turn follows: loop check, model override, plan, stop hooks.
  const end = await decideNext(state, { answer, report, signal });
  if (end) await turnEnded;
  return end;
}

type MissingModel = { readonly error: ProviderFailure };

/** A model that cannot be loaded fails the run, not the program. */
async function chooseModel(state: ConversationState, signal: AbortSignal): Promise<LanguageModelV4 | MissingModel> {
  try {
    return await state.deps.model(nextModelId(state), signal);
  } catch (error) {
    return { error: providerFailure(error) };
  }
}

async function endWithoutModel(state: ConversationState, turn: number, error: ProviderFailure): Promise<RunEnd> {
  const { session } = state.deps;
  await session.record([session.draft("turn.ended", { turn, reason: "error", error: recordedError(state, error) })], "normal");
  return endRun(state, "failed", error);
}

/** Records the start of the turn, with the steering reminder if there is one. */
async function recordTurnStart(
  state: ConversationState,
  { turn, steering, model }: { readonly turn: number; readonly steering: TurnSteering; readonly model: LanguageModelV4 },
): Promise<void> {
  const { session, ids } = state.deps;
  const { choice, reminder, proposal } = steering;
  const toolChoice = choice === undefined ? null : typeof choice === "string" ? choice : choice.tool;
  const promptId = ids.next("u_");
  const started = session.draft("turn.started", { turn, origin: state.origin, promptId, model: model.modelId, toolChoice });
  if (reminder === undefined) {
    await session.record([started], "normal");
  } else {
    const reminded = proposal === undefined ? [] : [session.draft("proposal.reminded", { proposal, turn })];
    const message = session.draft("message.user", { turn, content: reminder, origin: "steering" });
    await session.record([started, message, ...reminded], "normal");
    state.messages.push(userMessage(reminder, "reminder"));
    state.emit({ type: "reminder", turn, text: reminder, displayText: reminder });
  }
  state.newPrompt = false;
  state.fresh = false;
  state.modelOverride = "";
}

function answerDraft({ deps: { session } }: ConversationState, turn: number, answer: ModelAnswer): ReturnType<typeof session.draft> {
  const { parts, stop, usage, model, providerId } = answer;
  return session.draft("message.assistant", { turn, content: parts, stop, usage, model, providerId });
}

/** The answer and its results enter the history together, once every call has ended. */
function appendResults(state: ConversationState, { calls, parts, usage }: ModelAnswer, { results }: BatchReport): RunEnd | undefined {
  const { deps, messages, contextUsage } = state;
  const failure = deps.dispatcher.failure();
  if (failure !== undefined) return endRun(state, "failed", storeFailure(failure));
  const ended = collectResults(results, calls);
  if (!ended) return endRun(state, "parked");
  const ids = ended.map(({ callId }) => callId);
  if (parts.length > 0) messages.push(assistantMessage(parts, ids));
  contextUsage.count(usage, messages.length);
  if (ended.length > 0) messages.push(toolMessage(ended));
  return undefined;
}

function storeFailure(error: unknown): NonNullable<RunEnd["error"]> {
  if (error instanceof LedgerError) return { type: error.type, message: error.message };
  if (error instanceof IllegalEvent) return { type: "unhandled_exception", message: error.message }; // its own type is an event name
  return { type: "store_io", message: messageOf(error) };
}

/** Keeps what arrived of an answer that broke off. None of its calls is run. */
async function endBrokenTurn(
  state: ConversationState,
  {
    turn,
    modelId,
    error,
    signal,
  }: { readonly turn: number; readonly modelId: string; readonly error: unknown; readonly signal: AbortSignal },
): Promise<RunEnd> {
  const { session } = state.deps;
  const failure = signal.aborted ? undefined : providerFailure(error, modelId);
  const reason = signal.aborted ? "aborted" : "error";
  state.steering.failTurn(reason);
  const partial = error instanceof BrokenAnswer ? error.partial : undefined;
  const answer = partial && partial.parts.length > 0 ? partial : undefined;
  const ended = session.draft("turn.ended", { turn, reason, ...(failure && { error: recordedError(state, failure) }) });
  await session.record(answer ? [answerDraft(state, turn, answer), ended] : [ended], "normal");
  if (answer) {
    state.messages.push(...cutMessages(answer.parts, turn));
    if (answer.text !== "") state.text = answer.text;
    state.emit({ type: "assistant", turn, answer });
  }
  tellHooks(state, "turn_end", { reason });
  return failure ? endRun(state, "failed", failure) : endRun(state, "cancelled");
}

const LONGEST_RECORDED_MESSAGE = 500;

function recordedError(
  { deps: { redact } }: ConversationState,
  { type, message }: ProviderFailure,
): NonNullable<EventBodies["turn.ended"]["error"]> {
  return { type, message: (redact?.(message) ?? message).slice(0, LONGEST_RECORDED_MESSAGE).toWellFormed() };
}
