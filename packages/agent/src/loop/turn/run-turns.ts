import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { Draft, EventBodies, Maybe } from "@assent/core";
import { deliverNotices } from "../../notices/deliver.ts";
import { compactIfFull } from "../compaction/compact.ts";
import type { RunEnd } from "../conversation.ts";
import { askedModel, end, remind, type Talk } from "../conversation-state.ts";
import { cutMessages } from "../history/cut-answer.ts";
import { userMessage } from "../history/messages.ts";
import { turnLimit } from "../limits/run-limits.ts";
import { askModel } from "../model/ask-model.ts";
import { type ProviderFailure, providerFailure } from "../model/provider-failure.ts";
import { offeredTools } from "../model/request.ts";
import { BrokenAnswer, type ModelAnswer } from "../model/stream-answer.ts";
import type { Lead } from "../steering/steering.ts";
import { isAgent, startTurn, tellHooks } from "./hooks.ts";
import { runCalls } from "./run-calls.ts";

/** Turn after turn, until there is nothing to go on with. */
export async function runTurns(talk: Talk, signal: AbortSignal): Promise<RunEnd> {
  const stop = stopOf(talk, signal);
  talk.stopHook.reset();
  talk.remark = undefined;
  for (let turns = 1; ; turns += 1) {
    const ended = beforeTurn(talk, turns, stop) ?? (await runTurn(talk, stop));
    if (ended) return told(talk, ended.reason === "cancelled" ? whyStopped(talk, signal) : ended);
  }
}

/** Aborts for everyone who may stop a run. */
function stopOf({ deps: { halt, limits } }: Talk, signal: AbortSignal): AbortSignal {
  const others = [halt, limits?.signal].filter((other) => other !== undefined);
  return others.length === 0 ? signal : AbortSignal.any([signal, ...others]);
}

function told(talk: Talk, ended: RunEnd): RunEnd {
  if (ended.error) tellHooks(talk, "on_error", { error: ended.error.message, error_type: ended.error.type });
  return ended;
}

/** Whether the next turn may start. */
function beforeTurn(talk: Talk, turns: number, signal: AbortSignal): RunEnd | undefined {
  const { limits, maxTurns } = talk.deps;
  if (signal.aborted) return end(talk, "cancelled");
  if (maxTurns !== undefined && turns > maxTurns) return end(talk, "turn_limit", turnLimit(maxTurns));
  const over = limits?.exceeded();
  if (over) return end(talk, "budget", over);
  const last = isAgent(talk.deps) ? undefined : limits?.turn();
  return last && end(talk, "turn_limit", last);
}

/** A person's wish counts before what a script or a limit stopped. */
function whyStopped(talk: Talk, signal: AbortSignal): RunEnd {
  const { halt, limits } = talk.deps;
  if (signal.aborted) return end(talk, "cancelled");
  if (halt?.aborted) return end(talk, "failed", providerFailure(halt.reason));
  const over = limits?.signal.aborted ? limits.exceeded() : undefined;
  return over ? end(talk, "budget", over) : end(talk, "cancelled");
}

/** Undefined: another turn follows. */
async function runTurn(talk: Talk, signal: AbortSignal): Promise<RunEnd | undefined> {
  const { deps, steering } = talk;
  const { session } = deps;
  const turn = session.state.turn + 1;
  const found = chosenModel(talk);
  const model = found instanceof Promise ? await found : found;
  if ("error" in model) return await unasked(talk, turn, model.error);
  const modelId = askedModel(talk) ?? model.modelId;
  const compacting = compactIfFull(talk, { modelId, turn, trigger: "auto", signal });
  if (compacting) await compacting;
  const delivering = deliverNotices(talk, turn);
  if (delivering) await delivering;
  const planning = talk.planning.changed();
  if (planning !== undefined) await remind(talk, turn, planning);
  if (deps.hooks) await startTurn(talk, signal);
  const tools = offeredTools(deps.tools(), deps);
  const lead = steering.lead({ active: tools.map(({ name }) => name), newPrompt: talk.fresh });
  const beginning = begin(talk, { turn, lead, model });
  if (beginning instanceof Promise) await beginning;
  talk.newPrompt = false;
  talk.fresh = false;
  talk.override = "";
  let answer: ModelAnswer;
  try {
    answer = await askModel(talk, { turn, lead, tools, model, modelId, signal });
  } catch (error) {
    return await broken(talk, { turn, modelId, error, signal });
  }
  return await runCalls(talk, { turn, lead, answer, signal });
}

/** A model that cannot be had is a failure of the run, not of the program. */
function chosenModel(talk: Talk): Maybe<LanguageModelV4 | NoModel> {
  try {
    const model = talk.deps.model(askedModel(talk));
    return model instanceof Promise ? model.catch(noModel) : model;
  } catch (error) {
    return noModel(error);
  }
}

type NoModel = { readonly error: NonNullable<RunEnd["error"]> };

function noModel(error: unknown): NoModel {
  return { error: providerFailure(error) };
}

/** Nothing of this turn is on record but why there was none. */
async function unasked(talk: Talk, turn: number, error: NoModel["error"]): Promise<RunEnd> {
  const { session } = talk.deps;
  await session.record([session.draft("turn.ended", { turn, reason: "error", error: recorded(talk, error) })], "normal");
  return end(talk, "failed", error);
}

type Turn = { readonly turn: number; readonly lead: Lead; readonly model: LanguageModelV4 };

/** What the runtime has to say goes to the record with the beginning of the turn it is said in. */
function begin(talk: Talk, { turn, lead, model }: Turn): Maybe<unknown> {
  const { session, ids } = talk.deps;
  const toolChoice = lead.choice === undefined ? null : typeof lead.choice === "string" ? lead.choice : lead.choice.tool;
  const { origin } = talk;
  const started = session.draft("turn.started", { turn, origin, promptId: ids.next("u_"), model: model.modelId, toolChoice });
  const { reminder } = lead;
  return reminder === undefined ? session.record([started], "normal") : beginReminding(talk, started, { turn, lead, reminder });
}

type Reminding = Pick<Turn, "turn" | "lead"> & { readonly reminder: string };

async function beginReminding(talk: Talk, started: Draft, { turn, lead: { proposal }, reminder }: Reminding): Promise<void> {
  const { session } = talk.deps;
  const reminded = proposal === undefined ? [] : [session.draft("proposal.reminded", { proposal, turn })];
  const said = session.draft("message.user", { turn, content: reminder, origin: "steering" });
  await session.record([started, said, ...reminded], "normal");
  talk.messages.push(userMessage(reminder, "reminder"));
  talk.tell({ type: "reminder", turn, text: reminder, displayText: reminder });
}

type Breaking = { readonly turn: number; readonly modelId: string; readonly error: unknown; readonly signal: AbortSignal };

/** What arrived of an answer that broke off is kept and told; nothing that it called is run. */
async function broken(talk: Talk, { turn, modelId, error, signal }: Breaking): Promise<RunEnd> {
  const { session } = talk.deps;
  const failure = signal.aborted ? undefined : providerFailure(error, modelId);
  const reason = signal.aborted ? "aborted" : "error";
  talk.steering.failed(reason);
  const partial = error instanceof BrokenAnswer ? error.partial : undefined;
  const answer = partial && partial.parts.length > 0 ? partial : undefined;
  const ended = session.draft("turn.ended", { turn, reason, ...(failure && { error: recorded(talk, failure) }) });
  if (answer) {
    const { parts, stop, usage, model, providerId, text } = answer;
    const said = session.draft("message.assistant", { turn, content: parts, stop, usage, model, providerId });
    await session.record([said, ended], "normal");
    talk.messages.push(...cutMessages(parts, turn));
    if (text !== "") talk.text = text;
    talk.tell({ type: "assistant", turn, answer });
  } else await session.record([ended], "normal");
  tellHooks(talk, "turn_end", { reason });
  return failure ? end(talk, "failed", failure) : end(talk, "cancelled");
}

const LONGEST_RECORDED = 500;

function recorded({ deps: { redact } }: Talk, { type, message }: ProviderFailure): NonNullable<EventBodies["turn.ended"]["error"]> {
  return { type, message: (redact?.(message) ?? message).slice(0, LONGEST_RECORDED).toWellFormed() };
}
