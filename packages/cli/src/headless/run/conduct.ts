import { createRunLimits, type RunEnd, type RunLimits } from "@assent/agent";
import { ParkRequest, type Session } from "@assent/core";
import { createRedactor, formatProblem } from "@assent/policy";
import type { Context } from "../../command-line/spec.ts";
import { type AgentParts, type ComposedAgent, composeAgent } from "../../compose/agent.ts";
import type { FrontEnd } from "../../compose/front-end.ts";
import { listWaitingIn, waitsForPerson } from "../../desk/approvals/waiting-list.ts";
import { storeFlag } from "../../store/location.ts";
import { claudeDialect } from "../clients/claude-dialect.ts";
import { createInbox, type Inbox, type Work } from "../host/inbox.ts";
import type { OpenHost } from "../host/open.ts";
import { type HostSettings, hostSettings } from "../host/settings.ts";
import { initMessage } from "../stream/init-message.ts";
import { type WireMessage, wireMessage } from "../stream/message.ts";
import { observeSessions } from "../stream/observe-sessions.ts";
import { outputFor, type RunOutput } from "../stream/output.ts";
import { resultMessage } from "../stream/result-message.ts";
import { debugLog } from "./debug-log.ts";
import { createDeniedApprovals, type DeniedApprovals } from "./denied-approvals.ts";
import type { RunFlags } from "./flags.ts";
import { cancelled, closeReason, failedBy, type RunOutcome, strongestExit, succeeded } from "./outcome.ts";
import { pacedModel } from "./paced-model.ts";
import { printRunText, reportEnding, reportToPeople, reportUnasked } from "./report-to-people.ts";
import { armSchedules } from "./schedule-file.ts";
import { createTalk, refuseUnusedScript, type Talk } from "./talk.ts";
import { type RunTally, runTally } from "./tally.ts";

export type RunParts = Pick<AgentParts, "session" | "ports" | "policy" | "chosen" | "cancelling" | "unattended"> & {
  readonly flags: RunFlags;
  readonly resumed: boolean;
  /** Work before any message of a host. */
  readonly work: readonly Work[];
  /** Called before the first turn. */
  readonly prepare?: (agent: ComposedAgent) => Promise<void>;
  /** Called after a host joined, before it gets the response. */
  readonly joined?: (agent: ComposedAgent) => Promise<void>;
};

type ComposedHolder = { agent: ComposedAgent | undefined };
type RunStage = {
  readonly output: RunOutput;
  readonly tally: RunTally;
  readonly unheeded: DeniedApprovals;
  readonly inbox: Inbox;
  readonly host: OpenHost | undefined;
  readonly limits: RunLimits;
  readonly notices: { end: RunEnd | undefined };
  readonly settings: HostSettings;
  /** An error that makes the run fail in any case. */
  readonly fault: { error: RunOutcome | undefined };
};

/** Conducts a run from its first line of output to its last. Resolves with the exit code. */
export async function conductRun(context: Context, conducting: RunParts): Promise<number> {
  const composed: ComposedHolder = { agent: undefined };
  const { seq } = conducting.session.state; // later events follow the first line
  const stage = await prepareStage(context, conducting, composed);
  const init = Promise.withResolvers<readonly WireMessage[]>();
  stage.output.show(() => init.promise);
  try {
    const agent = await compose(context, conducting, stage);
    composed.agent = agent;
    await conducting.prepare?.(agent);
    await armSchedules(agent.schedules, conducting.flags.schedules);
    init.resolve([await firstMessage(conducting, agent, seq), ...unhonoredWarnings(context, conducting)]);
  } catch (error) {
    init.resolve(
      composed.agent
        ? await firstMessage(conducting, composed.agent, seq).then(
            (first) => [first],
            () => [],
          )
        : [],
    );
    await composed.agent?.close();
    return await leave(context, conducting, { stage, exits: [], last: await recordUnbegun(conducting, failedBy(error)) });
  }
  const { agent } = composed;
  const talk = createTalk({
    ...conducting,
    agent,
    tools: conducting.policy.tools,
    ...stage,
    signal: conducting.cancelling.signal,
  });
  stage.host?.steer({ ...conducting, agent, talk, settings: stage.settings, joined: async () => await conducting.joined?.(agent) });
  const { exits, last, isFailureShown = false } = await workThrough(context, conducting, stage, talk);
  if (isFailureShown) stage.output.hush(); // the result is the last line; later events are only recorded
  const unended = await closeAll(talk, agent, conducting.cancelling.signal.aborted ? "signal" : "end");
  const ended = { exits, last: unended && !last?.error ? unended : last };
  return await leave(context, conducting, { stage, isFailureShown, ...(await parkedInstead(context, conducting, ended)) });
}

/** Parks a run stopped by SIGHUP or SIGTERM if something waits for a person, an answer is unused, or another worker can continue it. */
async function parkedInstead({ worker }: Context, { session, cancelling }: RunParts, worked: WorkResult): Promise<WorkResult> {
  const { exits, last } = worked;
  if (!ParkRequest.isReasonOf(cancelling.signal)) return worked;
  const waits = worker || session.state.calls.size > 0 || (await waitsForPerson(session)) || (await listWaitingIn(session)).length > 0;
  if (!waits) return worked;
  const parked: RunOutcome = { subtype: "parked", exit: 75, text: last?.text ?? "" };
  return { exits: exits.filter((exit) => exit !== 130), last: last === undefined || last.exit === 130 ? parked : last };
}

async function recordUnbegun({ session, policy }: RunParts, unbegun: RunOutcome): Promise<RunOutcome> {
  const { error } = unbegun;
  const { turn, openTurn } = session.state;
  if (!error || openTurn !== null) return unbegun;
  const redact = createRedactor(policy.source.settings()["redaction.patterns"]);
  const recorded = { type: error.type, message: redact(error.message).slice(0, LONGEST_RECORDED).toWellFormed() };
  const ended = session.draft("turn.ended", { turn: turn + 1, reason: "error", error: recorded });
  return await session.record([ended], "normal").then(() => unbegun, failedBy);
}

const LONGEST_RECORDED = 500;

async function closeAll(talk: Talk, agent: ComposedAgent, by: string): Promise<RunOutcome | undefined> {
  try {
    await talk.shutdown(by);
    await agent.close();
    return undefined;
  } catch (error) {
    return failedBy(error);
  }
}

async function prepareStage(context: Context, conducting: RunParts, composed: ComposedHolder): Promise<RunStage> {
  const { ports, policy, cancelling, flags, work } = conducting;
  const fault: RunStage["fault"] = { error: undefined };
  const giveUp = (error: unknown): void => {
    fault.error ??= failedBy(error);
    cancelling.cancel();
  };
  const gone = context.io.stdout.isTTY ? cancelling.park : cancelling.cancel; // closing the terminal does not cancel
  const dialect = context.client?.name === "claude" ? claudeDialect(context.client) : undefined;
  const output = outputFor(flags.output, context.io, { gone, unmade: giveUp }, dialect);
  const inbox = createInbox();
  for (const piece of work) inbox.push(piece);
  const { maxCostUsd } = policy.source.settings();
  const limits = createRunLimits({ clock: ports.clock, ...flags, maxCostUsd });
  const tally = runTally(ports.clock);
  const stage = {
    output,
    inbox,
    fault,
    limits,
    notices: { end: undefined },
    settings: hostSettings(),
    tally,
    unheeded: createDeniedApprovals(context, flags.output),
  };
  if (flags.input === "text") {
    inbox.close();
    return { ...stage, host: undefined };
  }
  const { openHost } = await import("../host/open.ts");
  const tools = (): readonly string[] => composed.agent?.offered() ?? policy.tools.visible().map(({ name }) => name);
  const agents = (): ReturnType<ComposedAgent["agents"]> => composed.agent?.agents() ?? [];
  return {
    ...stage,
    host: openHost(context, { ...conducting, output, inbox, giveUp, agents, tools }),
  };
}

/** Warns on the stream about options without effect, because clients do not read stderr. */
function unhonoredWarnings({ client }: Context, { session, policy }: RunParts): readonly WireMessage[] {
  if (!client) return [];
  const options = client.unhonored.map((option) => ({
    code: "option_not_honored",
    message: `The option --${option} has no effect here.`,
    option,
  }));
  const rules = policy.loaded.problems
    .filter(({ line }) => line === 0)
    .map((problem) => ({ code: problem.type, message: formatProblem(problem) }));
  const origin = { session: session.id, parent: null };
  return [...options, ...rules].map((fields) => wireMessage(origin, { type: "system", subtype: "warning", ...fields }));
}

function compose(
  context: Context,
  conducting: RunParts,
  { output, tally, unheeded, host, limits, notices }: RunStage,
): Promise<ComposedAgent> {
  const { session, ports, flags, chosen } = conducting;
  const door: FrontEnd = {
    ...host,
    approvalTimeoutMs: () => host?.approvalTimeoutMs() ?? flags.approvalTimeoutMs,
    system: () => ({ ...context.client?.system, ...host?.system() }),
    attend: observeSessions({
      ...{ root: session.id, output, tally, clock: ports.clock, limits },
      partial: flags.partial && flags.output === "stream-json",
      log: debugLog(context, conducting.policy.source.settings),
      tell: reportToPeople(context, flags.output),
      unasked: reportUnasked(context, flags.output),
      unheeded,
    }),
  };
  return composeAgent(context, {
    ...conducting,
    chosen: pacedModel(chosen, output.paced),
    frontEnd: door,
    limits,
    onDrained: (end) => {
      notices.end = end ?? notices.end;
    },
  });
}

async function firstMessage(
  { session, chosen, policy, resumed }: RunParts,
  { modes, onAsk, agents, offered, servers }: ComposedAgent,
  seq: number,
): Promise<WireMessage> {
  const { cwd } = session.state.created ?? { cwd: policy.workspace };
  const pending = (await listWaitingIn(session)).map(({ form }) => form);
  const about = { session: session.id, seq, cwd, model: chosen.id, mode: modes.mode(), onAsk, resumed, pending };
  return initMessage({ ...about, tools: offered(), agents: agents().map(({ name }) => name), servers: servers?.status() ?? [] });
}

const FINAL: readonly RunOutcome["subtype"][] = ["error_max_turns", "error_budget", "error_expectation", "parked", "error_cancelled"];

/** Nothing can be recorded any more, so every further message would fail too. */
const RECORD_GONE: readonly string[] = ["stale_writer", "store_io", "store_readonly", "store_lost"];

type WorkResult = {
  readonly exits: readonly number[];
  readonly last: RunOutcome | undefined;
  /** The last result reported a failure and no message followed, so failures while closing get no result. */
  readonly isFailureShown?: boolean;
};

async function workThrough(context: Context, conducting: RunParts, stage: RunStage, talk: Talk): Promise<WorkResult> {
  const { inbox, fault } = stage;
  const { signal } = conducting.cancelling;
  const exits: number[] = [];
  let isFailureShown = false;
  while (await inbox.ready(signal)) {
    const outcome = await talk.handle(inbox.take());
    exits.push(outcome.exit);
    if (fault.error) return { exits, last: fault.error };
    if (isLast(talk, inbox, outcome)) return { exits, last: refuseUnusedScript(conducting.chosen, outcome) };
    await showResult(context, conducting, { stage, outcome, exit: outcome.exit });
    isFailureShown = outcome.error !== undefined;
  }
  if (fault.error) return { exits, last: fault.error, isFailureShown };
  if (signal.aborted) return { exits, last: cancelled(""), isFailureShown };
  if (isFailureShown) return { exits, last: undefined, isFailureShown };
  const rest = await talk.finish().catch(failedBy);
  const left = refuseUnusedScript(conducting.chosen, rest ?? succeeded(""));
  return { exits, last: rest || left.error || exits.length === 0 ? left : undefined };
}

function isLast(talk: Talk, inbox: Inbox, { subtype, error }: RunOutcome): boolean {
  const continues = (subtype === "success" || subtype === "interrupted") && talk.hasLeft();
  return FINAL.includes(subtype) || RECORD_GONE.includes(error?.type ?? "") || (inbox.isOver() && !continues);
}

type LeaveParts = WorkResult & { readonly stage: RunStage };

/** Records the end before reporting it. */
async function leave(context: Context, conducting: RunParts, { stage, exits, last, isFailureShown = false }: LeaveParts): Promise<number> {
  const { session } = conducting;
  let outcome = last;
  let exit = strongestExit([...exits, ...(last ? [last.exit] : [])]);
  try {
    const isHandedBack = context.worker && ((exit === 75 && conducting.cancelling.signal.aborted) || isStoreFault(last));
    await session.close(isHandedBack ? "queued" : closeReason(exit), exit);
  } catch (error) {
    outcome = failedBy(error);
    exit = strongestExit([exit, outcome.exit]);
  }
  if (outcome && !(isFailureShown && outcome.error)) await showResult(context, conducting, { stage, outcome, exit });
  await stage.output.end();
  return exit;
}

/** The run did not fail; its record was away for a while. */
function isStoreFault(outcome: RunOutcome | undefined): boolean {
  return outcome?.error?.type.startsWith("store_") === true;
}

type ResultToShow = { readonly stage: RunStage; readonly outcome: RunOutcome; readonly exit: number };

async function showResult(context: Context, { session }: RunParts, { stage, outcome, exit }: ResultToShow): Promise<void> {
  const { output, tally, unheeded } = stage;
  const waiting = await listWaitingIn(session).catch(() => []);
  const resume = `assent resume ${session.id}${canGoOn(session) ? " --tasks" : ""}${storeFlag(context)}`;
  const left = { resume, outcome, waiting };
  const facts = {
    session: session.id,
    seq: session.state.seq,
    counted: tally.take(),
    approvals: waiting.map(({ form }) => form),
    ...(outcome.subtype !== "success" || hasPaused(session) ? { resume } : {}),
    exit,
  };
  if (output.format === "text") await printRunText(context, left);
  else output.show(() => [resultMessage(outcome, facts)]);
  await unheeded.tell();
  await reportEnding(context, left, output.format);
}

function hasPaused({ state }: Session): boolean {
  return [...state.tasks.values()].some(({ paused }) => paused !== null);
}

/** A paused agent could continue. */
function canGoOn({ state }: Session): boolean {
  return [...state.tasks.values()].some(({ paused }) => paused && (paused.blocked === null || paused.blocked === "approval"));
}
