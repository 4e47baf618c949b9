import { type BatchReport, isObject } from "@assent/core";
import { loopError, loopWarning, resolveModelOverride } from "@assent/core/parts";
import { type ConversationState, emitWarning, endRun, type RunEnd, remindModel } from "../conversation-state.ts";
import type { ModelAnswer } from "../model/stream-answer.ts";
import { systemReminder } from "../steering/reminder.ts";

type EndedTurn = { readonly answer: ModelAnswer; readonly report: BatchReport; readonly signal: AbortSignal };

/**
 * Decides whether another turn follows. Returns undefined if so. The first that applies decides:
 * 1. the run was cancelled, stopped by a hook, or reached a limit
 * 2. the model made no calls: it is done, unless something is pending, a plan is due or a stop hook objects
 * 3. a call needed a person and no person can be asked
 * 4. the model repeats itself; otherwise the model of the next turn is chosen
 */
export async function decideNext(state: ConversationState, turn: EndedTurn): Promise<RunEnd | undefined> {
  const { deps, steering } = state;
  const { answer, report, signal } = turn;
  if (signal.aborted) return endRun(state, "cancelled");
  if (report.stopRun) return endRun(state, "stopped", { type: "hook_stopped", message: report.stopMessage });
  if (report.endedBy === "interrupted") return endRun(state, "cancelled");
  if (report.endedBy === "limit") {
    const limit = deps.limits?.exceeded() ?? { type: "limit_tool_calls", message: "The limit of tool calls is reached." };
    return endRun(state, "budget", limit);
  }
  if (answer.calls.length === 0) {
    const hasMore = steering.hasPending() || deps.session.state.notices.size > 0;
    return hasMore ? undefined : (endIncomplete(state, answer) ?? (await endWithText(state, answer.text, signal)));
  }
  const unattended = await endUnattended(state, report);
  if (unattended) return unattended;
  await state.planning.noteCalls(answer.calls);
  return await checkLoop(state, answer, report);
}

/** Ends a run whose call needed a person: with `onAsk: "fail"` at once, for a plan by returning it unapproved. */
async function endUnattended({ deps, text }: ConversationState, { results }: BatchReport): Promise<RunEnd | undefined> {
  for (const report of results) {
    if (report.outcome === "waiting" || report.type !== "denied_unattended") continue;
    const { details, error } = report.result;
    const message = error?.message ?? "No person can be asked in this run.";
    if (deps.onAsk === "fail") return { reason: "failed", text, error: { type: "denied_unattended", message } };
    if (isObject(details) && details["sourceToolName"] === "plan_mode")
      return { reason: "done", text: (await deps.plan?.().catch(() => undefined)) ?? text };
  }
  return undefined;
}

async function checkLoop(state: ConversationState, { calls }: ModelAnswer, report: BatchReport): Promise<RunEnd | undefined> {
  const { deps, detector } = state;
  const results = report.results.map((result) => (result.outcome === "waiting" ? undefined : result.result));
  const loop = detector.record(
    calls,
    results.map((result) => result?.content),
  );
  const { trip } = detector;
  if (loop === "stop" && trip) return endRun(state, "failed", { type: "loop_detected", message: loopError(trip) });
  const tools = deps.tools();
  state.modelOverride = resolveModelOverride(calls, results, (name) => tools.get(name)?.definition.modelOverride);
  if (loop === "warn" && trip) await remindModel(state, deps.session.state.turn, systemReminder([loopWarning(trip)]));
  return undefined;
}

const INCOMPLETE_ANSWERS: Readonly<Record<string, NonNullable<RunEnd["error"]>>> = {
  length: {
    type: "answer_cut",
    message: "The model's last answer was cut off at its output limit.",
    hint: "Ask it to continue, or use a model with a larger output limit.",
  },
  "content-filter": {
    type: "answer_refused",
    message: "The provider's content filter stopped the model's last answer.",
    hint: "Rephrase the request, or use another model.",
  },
};

/** A last answer that the provider cut off or refused fails the run, because its text is incomplete. */
function endIncomplete(state: ConversationState, { stop }: ModelAnswer): RunEnd | undefined {
  const error = INCOMPLETE_ANSWERS[stop];
  return error && endRun(state, "failed", error);
}

async function endWithText(state: ConversationState, text: string, signal: AbortSignal): Promise<RunEnd | undefined> {
  const { turn } = state.deps.session.state;
  const planReminder = await state.planning.endReminder();
  if (planReminder !== undefined) {
    await remindModel(state, turn, planReminder);
    return undefined;
  }
  const { feedback, context, limitReached } = await state.stopHook.consult(text, signal);
  if (signal.aborted) return endRun(state, "cancelled");
  const message = feedback ?? context;
  if (message !== undefined) await remindModel(state, turn, message);
  if (feedback !== undefined) return undefined;
  if (limitReached) {
    state.remark = "stop hook limit reached";
    emitWarning(state, "stop_hook_limit", "Stop hooks kept the run going as often as they may; it ends now.");
  }
  return endRun(state, "done");
}
