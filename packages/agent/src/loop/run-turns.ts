import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import { type BatchReport, type createLoopDetector, isObject, resolveModelOverride } from "@assent/core";
import { type Capabilities, refusesChoice } from "./capability.ts";
import type { ConversationDeps, RunEnd } from "./conversation.ts";
import { assistantMessage, toldResults, toolMessage, userMessage } from "./history.ts";
import { deliverNotices, tellParked } from "./notices.ts";
import type { PlanConvergence } from "./plan-convergence.ts";
import { providerFailure } from "./provider-failure.ts";
import { systemReminder } from "./reminder.ts";
import { buildRequest, offeredTools } from "./request.ts";
import { withRetries } from "./retry.ts";
import type { Lead, Steering } from "./steering.ts";
import { type ModelAnswer, streamAnswer } from "./stream-answer.ts";
import { endUnanswered } from "./unanswered.ts";

/** A conversation under way. */
export type Talk = {
  readonly deps: ConversationDeps;
  readonly messages: LanguageModelV4Message[];
  readonly steering: Steering;
  readonly planning: PlanConvergence;
  readonly capabilities: Capabilities;
  readonly detector: ReturnType<typeof createLoopDetector>;
  /** The model for the next turn only. */
  override: string;
  text: string;
  newPrompt: boolean;
};

/** Turn after turn, until there is nothing to go on with. */
export async function runTurns(talk: Talk, signal: AbortSignal): Promise<RunEnd> {
  for (let turns = 1; ; turns += 1) {
    if (signal.aborted) return end(talk, "cancelled");
    if (turns > (talk.deps.maxTurns ?? Number.POSITIVE_INFINITY)) return end(talk, "turn_limit");
    const ended = await runTurn(talk, signal);
    if (ended) return ended;
  }
}

function end(talk: Talk, reason: RunEnd["reason"], error?: RunEnd["error"]): RunEnd {
  return { reason, text: talk.text, ...(error && { error }) };
}

/** Undefined: another turn follows. */
async function runTurn(talk: Talk, signal: AbortSignal): Promise<RunEnd | undefined> {
  const { deps, steering } = talk;
  const { session } = deps;
  const turn = session.state.turn + 1;
  const model = await chosenModel(talk);
  if ("error" in model) return end(talk, "failed", model.error);
  await deliverNotices(talk, turn);
  const entered = talk.planning.entered();
  if (entered !== undefined) await remind(talk, turn, entered);
  const lead = steering.lead({ active: offeredTools(deps.tools(), session, deps.asks).map(({ name }) => name), newPrompt: talk.newPrompt });
  await begin(talk, { turn, lead, model });
  talk.newPrompt = false;
  talk.override = "";
  let answer: ModelAnswer;
  try {
    answer = await ask(talk, { turn, lead, model, signal });
  } catch (error) {
    steering.failed(signal.aborted ? "aborted" : "error");
    await session.record([session.draft("turn.ended", { turn, reason: signal.aborted ? "aborted" : "error" })], "normal");
    return signal.aborted ? end(talk, "cancelled") : end(talk, "failed", providerFailure(error));
  }
  return await act(talk, { turn, lead, answer, signal });
}

/** A model that cannot be had is a failure of the run, not of the program. */
async function chosenModel({ deps, override }: Talk): Promise<LanguageModelV4 | { readonly error: NonNullable<RunEnd["error"]> }> {
  try {
    return await deps.model(override || deps.session.state.model);
  } catch (error) {
    return { error: providerFailure(error) };
  }
}

type Turn = { readonly turn: number; readonly lead: Lead; readonly model: LanguageModelV4 };

/** What the runtime has to say goes to the record with the beginning of the turn it is said in. */
async function begin(talk: Talk, { turn, lead, model }: Turn): Promise<void> {
  const { session, ids, observe } = talk.deps;
  const toolChoice = lead.choice === undefined ? null : typeof lead.choice === "string" ? lead.choice : lead.choice.tool;
  const started = session.draft("turn.started", { turn, origin: "user", promptId: ids.next("u_"), model: model.modelId, toolChoice });
  const { reminder, proposal } = lead;
  if (reminder === undefined) {
    await session.record([started], "normal");
    return;
  }
  const reminded = proposal === undefined ? [] : [session.draft("proposal.reminded", { proposal, turn })];
  const said = session.draft("message.user", { turn, content: reminder, origin: "steering" });
  await session.record([started, said, ...reminded], "normal");
  talk.messages.push(userMessage(reminder, "reminder"));
  observe?.({ type: "reminder", turn, text: reminder, displayText: reminder });
}

type Asking = Turn & { readonly signal: AbortSignal };

/** A provider that refuses a forced choice is asked the same again, one level lower; that is neither an error nor an unheeded turn. */
async function ask(talk: Talk, { turn, lead, model, signal }: Asking): Promise<ModelAnswer> {
  const { deps, messages, capabilities } = talk;
  for (;;) {
    const request: LanguageModelV4CallOptions = buildRequest({
      messages,
      system: deps.system(),
      tools: offeredTools(deps.tools(), deps.session, deps.asks),
      choice: lead.choice,
      capability: capabilities.of(model),
      signal,
    });
    try {
      return await withRetries(() => streamAnswer(model, request, (delta) => deps.observe?.({ type: "delta", turn, delta })), {
        clock: deps.clock,
        signal,
        retrying: ({ delayMs, error }) =>
          deps.observe?.({
            type: "warning",
            code: "provider_retry",
            message: `${providerFailure(error).message}; trying again in ${delayMs} ms`,
          }),
      });
    } catch (error) {
      if (signal.aborted || !isForced(lead) || !refusesChoice(error) || !capabilities.lower(model)) throw error;
    }
  }
}

function isForced({ choice }: Lead): boolean {
  return choice === "required" || typeof choice === "object";
}

type Acting = { readonly turn: number; readonly lead: Lead; readonly answer: ModelAnswer; readonly signal: AbortSignal };

/** Records what the model said, runs what it proposes, and tells it what came of it. */
async function act(talk: Talk, { turn, lead, answer, signal }: Acting): Promise<RunEnd | undefined> {
  const { deps, messages, steering } = talk;
  const { session } = deps;
  const { parts, stop, usage, model, providerId, calls } = answer;
  if (answer.text !== "") talk.text = answer.text;
  const said = session.record([session.draft("message.assistant", { turn, content: parts, stop, usage, model, providerId })], "normal");
  said.catch(() => undefined); // what follows fails with the same cause, and says so
  const batch = dispatch(talk, { turn, lead, answer, signal }); // proposed in the same tick, so that message and calls are stored together
  await said;
  deps.observe?.({ type: "assistant", turn, answer });
  const report = await batch;
  const told = toldResults(
    report.results,
    calls.map(({ name }) => name),
  );
  if (deps.dispatcher.failure() !== undefined) return end(talk, "failed", storeFailure(deps.dispatcher.failure()));
  if (!told) return end(talk, "parked");
  messages.push(
    assistantMessage(
      parts,
      told.map(({ callId }) => callId),
    ),
  );
  if (told.length > 0) messages.push(toolMessage(told));
  const parked = await steering.ended(lead, steeredCalls(report, answer));
  for (const row of parked) await tellParked(talk, row);
  await session.record([session.draft("turn.ended", { turn, reason: stop })], "normal");
  return await after(talk, { answer, report, signal });
}

function dispatch(talk: Talk, { turn, lead, answer, signal }: Acting): Promise<BatchReport> {
  const { deps } = talk;
  const directive = typeof lead.choice === "object" ? lead.choice.tool : undefined;
  return deps.dispatcher.process(
    {
      calls: answer.calls,
      tools: deps.tools(),
      signal,
      truncated: answer.truncated,
      ...(directive !== undefined && { directive }),
      ...(directive !== undefined && lead.proposal !== undefined && { proposal: lead.proposal }),
    },
    (event) => deps.observe?.({ type: "dispatch", turn, event }),
  );
}

function storeFailure(error: unknown): NonNullable<RunEnd["error"]> {
  const type = error instanceof Error && "type" in error && typeof error.type === "string" ? error.type : "store_io";
  return { type, message: error instanceof Error ? error.message : String(error) };
}

function steeredCalls({ results }: BatchReport, { calls }: ModelAnswer): Parameters<Steering["ended"]>[1] {
  return results.map((report, at) => {
    const details = report.outcome === "waiting" ? undefined : report.result.details;
    const proposalId = isObject(details) && typeof details["proposalId"] === "string" ? details["proposalId"] : undefined;
    const tool = calls[at]?.name ?? "";
    return { tool, outcome: report.outcome, proposalId: tool === "resolve" ? proposalId : undefined };
  });
}

type After = { readonly answer: ModelAnswer; readonly report: BatchReport; readonly signal: AbortSignal };

/** Goes on while there is something to go on with. */
async function after(talk: Talk, { answer, report, signal }: After): Promise<RunEnd | undefined> {
  const { deps, steering, detector } = talk;
  if (signal.aborted) return end(talk, "cancelled");
  if (report.stopRun) return end(talk, "stopped", { type: "hook_stopped", message: report.stopMessage });
  if (report.endedBy === "interrupted") return end(talk, "cancelled");
  if (answer.calls.length === 0) return steering.holds() || deps.session.state.notices.size > 0 ? undefined : await endText(talk);
  const unanswered = await endUnanswered(deps, report);
  if (unanswered) return { text: talk.text, ...unanswered };
  await talk.planning.called(answer.calls.map(({ name }) => name));
  const results = report.results.map((result) => (result.outcome === "waiting" ? undefined : result.result));
  talk.override = resolveModelOverride(
    answer.calls,
    deps
      .tools()
      .list()
      .map(({ name, definition }) => ({ name, modelOverride: definition.modelOverride })),
    results,
  );
  const loop = detector.record(
    answer.calls,
    results.map((result) => result?.content),
  );
  if (loop === "stop")
    return end(talk, "failed", {
      type: "loop_detected",
      message: `The model made the same calls ${detector.trip?.count ?? 0} times in a row.`,
    });
  if (loop === "warn") await warnLoop(talk);
  return undefined;
}

/** The model has said its last word, unless it owes the person a plan. */
async function endText(talk: Talk): Promise<RunEnd | undefined> {
  const reminder = await talk.planning.ended();
  if (reminder === undefined) return end(talk, "done");
  await remind(talk, talk.deps.session.state.turn, reminder);
  return undefined;
}

async function warnLoop(talk: Talk): Promise<void> {
  const text = systemReminder([
    "You have made the same tool calls several times in a row and nothing changed. Do something else, or say what keeps you from going on.",
  ]);
  await remind(talk, talk.deps.session.state.turn, text);
}

async function remind({ deps, messages }: Talk, turn: number, text: string): Promise<void> {
  const { session } = deps;
  await session.record([session.draft("message.user", { turn, content: text, origin: "steering" })], "normal");
  messages.push(userMessage(text, "reminder"));
}
