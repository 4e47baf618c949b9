import { type BatchReport, IllegalEvent, isObject, LedgerError, loopError, loopWarning, resolveModelOverride } from "@assent/core";
import type { RunEnd } from "./conversation.ts";
import { assistantMessage, toldResults, toolMessage } from "./history.ts";
import { tellHooks } from "./loop-hooks.ts";
import { tellParked } from "./notices.ts";
import { pauseWhileWaiting } from "./pause-while-waiting.ts";
import { systemReminder } from "./reminder.ts";
import type { Lead, Steering } from "./steering.ts";
import type { ModelAnswer } from "./stream-answer.ts";
import { end, remind, type Talk, warn } from "./talk.ts";
import { endUnanswered } from "./unanswered.ts";

/** A turn that was answered. */
export type Acting = { readonly turn: number; readonly lead: Lead; readonly answer: ModelAnswer; readonly signal: AbortSignal };

/** Records what the model said, runs what it proposes, and tells it what came of it. Undefined: another turn follows. */
export async function runCalls(talk: Talk, acting: Acting): Promise<RunEnd | undefined> {
  const { deps, messages, steering } = talk;
  const { turn, lead, answer } = acting;
  const { session } = deps;
  const { parts, stop, usage, model, providerId, calls } = answer;
  if (answer.text !== "") talk.text = answer.text;
  talk.answering = { parts, seq: session.state.seq };
  const said = session.write([session.draft("message.assistant", { turn, content: parts, stop, usage, model, providerId })], "normal");
  const unsaid = said instanceof Promise ? new AbortController() : undefined;
  if (said instanceof Promise) said.catch(() => unsaid?.abort());
  const signal = unsaid ? AbortSignal.any([acting.signal, unsaid.signal]) : acting.signal;
  const batch = dispatch(talk, { ...acting, signal }); // proposed in the same tick, so that message and calls are stored together
  if (said instanceof Promise) await said.catch((error: unknown) => batch.then(() => Promise.reject(error))); // what is not on record is not done
  talk.tell({ type: "assistant", turn, answer });
  const report = await batch;
  talk.answering = undefined;
  const told = toldResults(
    report.results,
    calls.map(({ name }) => name),
  );
  if (deps.dispatcher.failure() !== undefined) return end(talk, "failed", storeFailure(deps.dispatcher.failure()));
  if (!told) return end(talk, "parked");
  const ids = told.map(({ callId }) => callId);
  if (parts.length > 0) messages.push(assistantMessage(parts, ids));
  talk.room.counted(usage, messages.length);
  if (told.length > 0) messages.push(toolMessage(told));
  const parked = await steering.ended(lead, steeredCalls(report, answer));
  for (const row of parked) await tellParked(talk, row);
  return await afterTurn(talk, { ...acting, report });
}

/** The end of a turn that another follows is stored together with the beginning of that one; hooks are told of it when it is on record. */
async function afterTurn(talk: Talk, acted: After): Promise<RunEnd | undefined> {
  const { session, hooks } = talk.deps;
  const reason = acted.answer.stop;
  const written = session.write([session.draft("turn.ended", { turn: acted.turn, reason })], "normal");
  if (written instanceof Promise) written.catch(() => undefined); // what follows fails with the same cause, and says so
  if (hooks) await written;
  tellHooks(talk, "turn_end", { reason });
  const ended = await after(talk, acted);
  if (ended) await written;
  return ended;
}

/** While a person is waited for, the run's time stands still. */
function dispatch(talk: Talk, { turn, lead, answer, signal }: Acting): Promise<BatchReport> {
  const { dispatcher, tools, session, limits, agent } = talk.deps;
  const directive = typeof lead.choice === "object" ? lead.choice.tool : undefined;
  const newPrompt = talk.unheard;
  if (answer.calls.length > 0) talk.unheard = false;
  const release = limits ? pauseWhileWaiting(limits, session) : undefined;
  const report = dispatcher.process(
    {
      calls: answer.calls,
      tools: tools(),
      signal,
      truncated: answer.truncated,
      newPrompt,
      ...(agent && { agentName: agent.type }),
      ...(directive !== undefined && { directive }),
      ...(directive !== undefined && lead.proposal !== undefined && { proposal: lead.proposal }),
    },
    talk.deps.observe && ((event) => talk.tell({ type: "dispatch", turn, event })),
  );
  return release ? report.finally(release) : report;
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

type After = Acting & { readonly report: BatchReport };

/** Goes on while there is something to go on with. */
async function after(talk: Talk, { answer, report, signal }: After): Promise<RunEnd | undefined> {
  const { deps, steering } = talk;
  if (signal.aborted) return end(talk, "cancelled");
  if (report.stopRun) return end(talk, "stopped", { type: "hook_stopped", message: report.stopMessage });
  if (report.endedBy === "interrupted") return end(talk, "cancelled");
  if (report.endedBy === "limit")
    return end(talk, "budget", deps.limits?.exceeded() ?? { type: "limit_tool_calls", message: "The limit of tool calls is reached." });
  if (answer.calls.length === 0)
    return steering.holds() || deps.session.state.notices.size > 0 ? undefined : await endText(talk, answer.text, signal);
  const unanswered = await endUnanswered(deps, report);
  if (unanswered) return { text: talk.text, ...unanswered };
  await talk.planning.called(answer.calls.map(({ name }) => name));
  return await checkLoop(talk, answer, report);
}

async function checkLoop(talk: Talk, answer: ModelAnswer, report: BatchReport): Promise<RunEnd | undefined> {
  const { deps, detector } = talk;
  const results = report.results.map((result) => (result.outcome === "waiting" ? undefined : result.result));
  const loop = detector.record(
    answer.calls,
    results.map((result) => result?.content),
  );
  const { trip } = detector;
  if (loop === "stop" && trip) return end(talk, "failed", { type: "loop_detected", message: loopError(trip) });
  if (loop === "warn" && trip) await remind(talk, deps.session.state.turn, systemReminder([loopWarning(trip)]));
  const tools = answer.calls.flatMap(({ name }) => {
    const tool = deps.tools().get(name);
    return tool ? [{ name, modelOverride: tool.definition.modelOverride }] : [];
  });
  talk.override = resolveModelOverride(answer.calls, tools, results);
  return undefined;
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
