import {
  type Batch,
  type BatchReport,
  IllegalEvent,
  isObject,
  LedgerError,
  type Maybe,
  type Registry,
  type ToolResult,
} from "@assent/core";
import { loopError, loopWarning, resolveModelOverride } from "@assent/core/parts";
import { tellParked } from "../../notices/deliver.ts";
import type { RunEnd } from "../conversation.ts";
import { end, remind, type Talk, warn } from "../conversation-state.ts";
import { assistantMessage, toldResults, toolMessage } from "../history/messages.ts";
import { pauseWhileWaiting } from "../limits/pause-while-waiting.ts";
import type { ModelAnswer } from "../model/stream-answer.ts";
import { systemReminder } from "../steering/reminder.ts";
import { isLed, type Lead, type Steering } from "../steering/steering.ts";
import { tellHooks } from "./hooks.ts";
import { endUnanswered } from "./unanswered.ts";

/** A turn that was answered. */
export type Acting = { readonly turn: number; readonly lead: Lead; readonly answer: ModelAnswer; readonly signal: AbortSignal };

/** Records what the model said, runs what it proposes, and tells it what came of it. Undefined: another turn follows. */
export async function runCalls(talk: Talk, acting: Acting): Promise<RunEnd | undefined> {
  const { lead, answer } = acting;
  const report = await act(talk, acting);
  talk.answering = undefined;
  const broken = tellResults(talk, answer, report);
  if (broken) return broken;
  if (isLed(lead)) for (const row of await talk.steering.ended(lead, steeredCalls(report, answer))) await tellParked(talk, row);
  const written = endTurn(talk, acting);
  if (talk.deps.hooks) await written;
  tellHooks(talk, "turn_end", { reason: answer.stop });
  const next = after(talk, acting, report);
  const ended = next instanceof Promise ? await next : next;
  if (ended) await written;
  return ended;
}

/** What is not on record is not done: nothing is proposed before what was said is stored. */
function act(talk: Talk, acting: Acting): Promise<BatchReport> {
  const { session } = talk.deps;
  const { turn, answer } = acting;
  const { parts, stop, usage, model, providerId } = answer;
  if (answer.text !== "") talk.text = answer.text;
  talk.answering = { parts, seq: session.state.seq };
  const said = session.record([session.draft("message.assistant", { turn, content: parts, stop, usage, model, providerId })], "normal");
  return said instanceof Promise ? said.then(() => actAsSaid(talk, acting)) : actAsSaid(talk, acting);
}

function actAsSaid(talk: Talk, acting: Acting): Promise<BatchReport> {
  talk.tell({ type: "assistant", turn: acting.turn, answer: acting.answer });
  return dispatch(talk, acting);
}

/** The answer and what came of its calls enter the history together, once all of them have ended. */
function tellResults(talk: Talk, { calls, parts, usage }: ModelAnswer, { results }: BatchReport): RunEnd | undefined {
  const { deps, messages, room } = talk;
  const failure = deps.dispatcher.failure();
  if (failure !== undefined) return end(talk, "failed", storeFailure(failure));
  const told = toldResults(results, calls);
  if (!told) return end(talk, "parked");
  const ids = told.map(({ callId }) => callId);
  if (parts.length > 0) messages.push(assistantMessage(parts, ids));
  room.counted(usage, messages.length);
  if (told.length > 0) messages.push(toolMessage(told));
  return undefined;
}

/** The end of a turn that another follows is stored together with the beginning of that one; hooks are told of it when it is on record. */
function endTurn({ deps: { session } }: Talk, { turn, answer }: Acting): Maybe<unknown> {
  const written = session.record([session.draft("turn.ended", { turn, reason: answer.stop })], "normal");
  if (written instanceof Promise) written.catch(() => undefined); // what follows fails with the same cause, and says so
  return written;
}

/** While a person is waited for, the run's time stands still. */
function dispatch(talk: Talk, { turn, lead, answer, signal }: Acting): Promise<BatchReport> {
  const { dispatcher, session, limits, observe } = talk.deps;
  const newPrompt = talk.unheard;
  if (answer.calls.length > 0) talk.unheard = false;
  const release = limits ? pauseWhileWaiting(limits, session) : undefined;
  const batch = { calls: answer.calls, tools: talk.deps.tools(), signal, truncated: answer.truncated, newPrompt };
  const report = dispatcher.process(
    isLed(lead) || talk.deps.agent ? { ...batch, ...ledBy(lead), ...actingFor(talk.deps) } : batch,
    observe && ((event) => talk.tell({ type: "dispatch", turn, event })),
  );
  return release ? report.finally(release) : report;
}

/** The tool that a directive names in this turn, and the proposal it is about. */
function ledBy({ choice, proposal }: Lead): Pick<Batch, "directive" | "proposal"> {
  if (typeof choice !== "object") return {};
  return { directive: choice.tool, ...(proposal !== undefined && { proposal }) };
}

function actingFor({ agent }: Talk["deps"]): Pick<Batch, "agentName"> {
  return agent ? { agentName: agent.type } : {};
}

function storeFailure(error: unknown): NonNullable<RunEnd["error"]> {
  if (error instanceof LedgerError) return { type: error.type, message: error.message };
  if (error instanceof IllegalEvent) return { type: "unhandled_exception", message: error.message }; // its type is an event's name
  return { type: "store_io", message: error instanceof Error ? error.message : String(error) };
}

function steeredCalls({ results }: BatchReport, { calls }: ModelAnswer): Parameters<Steering["ended"]>[1] {
  return results.map((report, at) => {
    const details = report.outcome === "waiting" ? undefined : report.result.details;
    const proposalId = isObject(details) && typeof details["proposalId"] === "string" ? details["proposalId"] : undefined;
    const tool = calls[at]?.name ?? "";
    return { tool, outcome: report.outcome, proposalId: tool === "resolve" ? proposalId : undefined };
  });
}

/** Goes on while there is something to go on with. */
function after(talk: Talk, { answer, signal }: Acting, report: BatchReport): Maybe<RunEnd | undefined> {
  const { deps, steering } = talk;
  if (signal.aborted) return end(talk, "cancelled");
  if (report.stopRun) return end(talk, "stopped", { type: "hook_stopped", message: report.stopMessage });
  if (report.endedBy === "interrupted") return end(talk, "cancelled");
  if (report.endedBy === "limit")
    return end(talk, "budget", deps.limits?.exceeded() ?? { type: "limit_tool_calls", message: "The limit of tool calls is reached." });
  if (answer.calls.length === 0) {
    const goesOn = steering.holds() || deps.session.state.notices.size > 0;
    return goesOn ? undefined : (endIncomplete(talk, answer) ?? endText(talk, answer.text, signal));
  }
  const unanswered = endUnanswered(talk, report);
  if (unanswered) return unanswered;
  const called = talk.planning.called(answer.calls);
  return called ? called.then(() => checkLoop(talk, answer, report)) : checkLoop(talk, answer, report);
}

function checkLoop(talk: Talk, { calls }: ModelAnswer, report: BatchReport): Maybe<RunEnd | undefined> {
  const { deps, detector } = talk;
  const results = report.results.map((result) => (result.outcome === "waiting" ? undefined : result.result));
  const loop = detector.record(
    calls,
    results.map((result) => result?.content),
  );
  const { trip } = detector;
  if (loop === "stop" && trip) return end(talk, "failed", { type: "loop_detected", message: loopError(trip) });
  talk.override = overrideOf(deps.tools(), calls, results);
  if (loop !== "warn" || !trip) return undefined;
  return remind(talk, deps.session.state.turn, systemReminder([loopWarning(trip)])).then(() => undefined);
}

type Results = readonly (ToolResult | undefined)[];

/** The model that a result or a tool wishes for the next turn; most wish for none. */
function overrideOf(tools: Registry, calls: ModelAnswer["calls"], results: Results): string {
  const wish = (name: string): string | undefined => tools.get(name)?.definition.modelOverride;
  if (!calls.some(({ name }, at) => results[at]?.modelOverride !== undefined || wish(name) !== undefined)) return "";
  const known = calls.filter(({ name }) => tools.get(name) !== undefined);
  return resolveModelOverride(
    calls,
    known.map(({ name }) => ({ name, modelOverride: wish(name) })),
    results,
  );
}

const INCOMPLETE: Readonly<Record<string, NonNullable<RunEnd["error"]>>> = {
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

/** A last answer that the provider cut off or refused is a failure, because its text is incomplete. */
function endIncomplete(talk: Talk, { stop }: ModelAnswer): RunEnd | undefined {
  const error = INCOMPLETE[stop];
  return error && end(talk, "failed", error);
}

/** The model has said its last word, unless it owes the person a plan, or a hook holds it back. */
async function endText(talk: Talk, text: string, signal: AbortSignal): Promise<RunEnd | undefined> {
  const { turn } = talk.deps.session.state;
  const reminder = await talk.planning.ended();
  if (reminder !== undefined) {
    await remind(talk, turn, reminder);
    return undefined;
  }
  const { goOn, context, limitReached } = await talk.stopHook.consult(text, signal);
  if (signal.aborted) return end(talk, "cancelled");
  const words = goOn ?? context;
  if (words !== undefined) await remind(talk, turn, words);
  if (goOn !== undefined) return undefined;
  if (limitReached) {
    talk.remark = "stop hook limit reached";
    warn(talk, "stop_hook_limit", "Hooks held the end back as often as they may; the run ends now.");
  }
  return end(talk, "done");
}
