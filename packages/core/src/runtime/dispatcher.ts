import type { Answer } from "../model/answer.ts";
import { type Call, hasJudgement, isAsked } from "../model/call.ts";
import { messageOf } from "../model/result/thrown.ts";
import type { OpenApproval, Policy } from "../ports.ts";
import { createRegistry, type Registry } from "../registry.ts";
import type { Tool } from "../tool-definition.ts";
import { type AnswerReport, answerApproval, refuseLostAnswer } from "./approval/answer.ts";
import { answerPorts } from "./approval/requests.ts";
import { concludeBatch, fitBudget, runAll, withBatchHooks } from "./batch.ts";
import { checkHookAnswers } from "./check-hook-answers.ts";
import type { Batch, BatchReport, CallReport, DispatchEvent, DispatcherDeps, ResumedBatch } from "./dispatch.ts";
import { type BatchRun, type CallRun, type LiveCalls, makeRun, stopAll, stopCall, stopRequested } from "./pipeline/call-run.ts";
import { createLanes } from "./pipeline/lanes.ts";
import { createRepeatGuard } from "./pipeline/repeat-guard.ts";
import { currentPolicy } from "./policy/source.ts";
import { makeProposals, type Proposals } from "./proposal/proposals.ts";
import { createStaging, type Staging, stagedRows } from "./proposal/staging.ts";
import { proposeCalls } from "./propose.ts";
import { checkAskTimeout } from "./question/ask.ts";
import { endNested, recover, type SettledCall } from "./recover.ts";
import { followCancelRequests } from "./session/cancel-requests.ts";
import { callListener } from "./waiting.ts";

/** Judges, asks about, runs and records the calls of one session. */
export type Dispatcher = {
  /** Never rejects. */
  readonly process: (batch: Batch, emit?: (event: DispatchEvent) => void) => Promise<BatchReport>;
  /** Recovers from a crash, then continues every open call, or those in `only`. */
  readonly resume: (batch: ResumedBatch, emit?: (event: DispatchEvent) => void) => Promise<BatchReport>;
  /** Answers an open approval; rejects with `AnswerError`, also if a different answer is recorded. */
  readonly answer: (answer: Answer) => Promise<AnswerReport>;
  /** True if the policy denies every call of this tool. */
  readonly denies: (tool: Pick<Tool, "name" | "kind">) => boolean;
  /** False if no such call is open. */
  readonly cancel: (callId: string) => boolean;
  readonly pending: () => readonly OpenApproval[];
  /** Set if an end could not be recorded; nothing more runs. */
  readonly failure: () => unknown;
  readonly proposals: Proposals;
  /** Stops handling other processes' requests; the session stays open. */
  readonly close: () => Promise<void>;
};

const CONCURRENCY = 10;

/** Creates the dispatcher of an open session. */
export function createDispatcher(given: DispatcherDeps): Dispatcher {
  const { hooks, warn = (message: string): void => console.warn(`assent: ${message}`) } = given;
  const deps = { ...given, warn, ...(hooks && { hooks: checkHookAnswers(hooks) }) };
  checkAskTimeout(deps);
  const staging = makeStaging(deps, () => shared.tools);
  const live: LiveCalls = new Set();
  const desk = makeProposals(staging, deps, live);
  const shared: DispatcherState = {
    repeats: createRepeatGuard(),
    broken: { error: undefined },
    live,
    shown: new Map(),
    forgiven: new Set(),
    tools: undefined,
    batches: new Set(),
    following: undefined,
    cancel: () => {
      for (const batch of shared.batches) if (batch.batch.signal.aborted) stopAll(batch);
    },
    staging,
    policy: () => currentPolicy(deps),
    begin: desk.begin,
  };
  deps.session.onClose(async () => shared.following?.removeEventListener("abort", shared.cancel));
  const inTurn = makeBatchTurns();
  return {
    process: (batch, emit) =>
      batch.calls.length === 0 ? Promise.resolve(EMPTY) : inTurn(batch.signal, () => processBatch(deps, shared, { batch, emit })),
    resume: (batch, emit) => inTurn(batch.signal, () => resumeBatch(deps, shared, { batch, emit })),
    answer: async (answer) => refuseLostAnswer(answer, await answerApproval(answerPorts(deps, staging.tools()), answer)),
    denies: ({ name, kind }) => shared.policy().checkers.some(({ deniesTool }) => deniesTool?.(name, kind) === true),
    cancel: (callId) => {
      const run = [...live].find((one) => one.callId === callId);
      if (!run || run.phase === "after") return false;
      stopCall(run, "cancelled");
      return true;
    },
    pending: () => [...shared.shown.values()],
    failure: () => shared.broken.error,
    proposals: desk,
    close: desk.close,
  };
}

const EMPTY: BatchReport = Object.freeze({ stopRun: false, stopMessage: "", results: Object.freeze([]) });

type DispatcherState = {
  readonly repeats: ReturnType<typeof createRepeatGuard>;
  readonly broken: { error: unknown };
  readonly live: LiveCalls;
  readonly shown: Map<string, OpenApproval>;
  readonly forgiven: Set<string>;
  tools: Registry | undefined;
  readonly batches: Set<BatchRun>;
  following: AbortSignal | undefined;
  readonly cancel: () => void;
  readonly staging: Staging;
  readonly policy: () => Policy;
  readonly begin: () => Promise<void>;
};

type BatchInput<B> = { readonly batch: B; readonly emit: ((event: DispatchEvent) => void) | undefined };

async function processBatch(deps: DispatcherDeps, shared: DispatcherState, { batch, emit }: BatchInput<Batch>): Promise<BatchReport> {
  if (batch.newPrompt) {
    shared.repeats.reset();
    for (const fingerprint of deps.session.state.rejected) shared.forgiven.add(fingerprint);
  }
  shared.repeats.begin();
  shared.tools = batch.tools;
  if (deps.changes) await shared.begin();
  const run = makeBatchRun(deps, shared, { batch, emit, count: batch.calls.length });
  const runs = proposeCalls(run, batch.calls);
  const reports = fitBudget(await runCalls(run, shared, runs));
  return concludeBatch(run, runs, deps.hooks ? await withBatchHooks(run, runs, reports) : reports);
}

async function resumeBatch(deps: DispatcherDeps, shared: DispatcherState, { batch, emit }: BatchInput<ResumedBatch>): Promise<BatchReport> {
  await deps.session.refresh();
  shared.tools = batch.tools;
  await shared.begin();
  const { calls } = deps.session.state;
  const run = makeBatchRun(deps, shared, { batch, emit, count: calls.size });
  followSignal(run, shared); // recovery's retries can be cancelled too
  const entries = await resumeAll(run, shared, batch.only).finally(() => shared.batches.delete(run));
  entries.sort((left, right) => left.seq - right.seq);
  const runs = entries.map((entry) => entry.run);
  const reports = fitBudget(entries.map((entry) => entry.report));
  return concludeBatch(run, runs, deps.hooks ? await withBatchHooks(run, runs, reports) : reports);
}

async function resumeAll(batch: BatchRun, shared: DispatcherState, only: ResumedBatch["only"]): Promise<SettledCall[]> {
  const { calls } = batch.deps.session.state;
  const resumed = (): Call[] => [...calls.values()].filter(({ callId }) => only?.has(callId) ?? true);
  const { settled, raws } = await recover(batch, resumed());
  for (const call of resumed().filter(({ index }) => index < 0)) await endNested(batch, call);
  const open = resumed().sort((left, right) => left.seq - right.seq);
  const runs = open.map((call, index) => {
    const run = makeRun({ callId: call.callId, index, name: call.tool, arguments: raws.get(call.callId) ?? "" });
    run.restore = hasJudgement(call);
    run.resumed = isAsked(call);
    return run;
  });
  const reports = await runCalls(batch, shared, runs);
  return [...settled, ...open.map((call, at) => ({ seq: call.seq, run: runs[at], report: reports[at] })).filter(isSettled)];
}

function isSettled(entry: {
  readonly seq: number;
  readonly run: CallRun | undefined;
  readonly report: CallReport | undefined;
}): entry is SettledCall {
  return entry.run !== undefined && entry.report !== undefined;
}

async function runCalls(batch: BatchRun, shared: DispatcherState, runs: readonly CallRun[]): Promise<readonly CallReport[]> {
  for (const run of runs) {
    batch.runs.push(run);
    shared.live.add(run);
  }
  followSignal(batch, shared);
  if (batch.batch.signal.aborted) stopAll(batch);
  const { session } = batch.deps;
  const following = followCancelRequests(session.ledger, session.id, (request) => stopRequested(shared.live, request));
  try {
    const reports = await runAll(batch, runs);
    if (batch.nested.length > 0) await Promise.all(batch.nested);
    return reports;
  } finally {
    following.close();
    shared.batches.delete(batch);
    for (const run of runs) shared.live.delete(run);
  }
}

/** One listener is enough: only one batch at a time is not cancelled. */
function followSignal(run: BatchRun, shared: DispatcherState): void {
  const { signal } = run.batch;
  shared.batches.add(run);
  if (signal.aborted || signal === shared.following) return;
  shared.following?.removeEventListener("abort", shared.cancel);
  signal.addEventListener("abort", shared.cancel, { once: true });
  shared.following = signal;
}

function makeBatchRun(
  deps: DispatcherDeps,
  shared: DispatcherState,
  { batch, emit, count }: BatchInput<Omit<Batch, "calls">> & { readonly count: number },
): BatchRun {
  return {
    deps,
    batch,
    live: shared.live,
    staging: shared.staging,
    stagedBefore: stagedRows(shared.staging).map(({ id }) => id),
    runs: [],
    nested: [],
    emit: guardedEmit(deps, emit),
    lanes: createLanes(count, Math.max(1, deps.maxConcurrency ?? CONCURRENCY)),
    policy: shared.policy,
    repeats: shared.repeats,
    shown: shared.shown,
    forgiven: shared.forgiven,
    stops: new Map(),
    broken: shared.broken,
    endedBy: undefined,
  };
}

function makeStaging(deps: DispatcherDeps, newest: () => Registry | undefined): Staging {
  const { session, clock, ids, digest, changes, tools } = deps;
  const none = createRegistry();
  return createStaging({
    ...{ session, clock, ids, digest, changes },
    warn: (message) => deps.warn?.(message),
    tools: () => newest() ?? tools ?? none,
    policy: () => currentPolicy(deps),
  });
}

function guardedEmit(deps: DispatcherDeps, emit: ((event: DispatchEvent) => void) | undefined): BatchRun["emit"] {
  if (!emit) return undefined;
  let said = false;
  const failed = (error: unknown): void => {
    if (!said) deps.warn?.(`an observer failed: ${messageOf(error)}`);
    said = true;
  };
  return (event) => callListener(() => emit(event), failed);
}

/** Runs one batch at a time. A batch cancelled while waiting starts and ends at once. */
function makeBatchTurns(): <T>(signal: AbortSignal, act: () => Promise<T>) => Promise<T> {
  let underWay = 0;
  let idle: PromiseWithResolvers<void> | undefined;
  return async (signal, act) => {
    while (underWay > 0 && !signal.aborted) {
      idle ??= Promise.withResolvers<void>();
      await settledOrAborted(idle.promise, signal);
    }
    underWay += 1;
    try {
      return await act();
    } finally {
      underWay -= 1;
      if (underWay === 0) {
        idle?.resolve();
        idle = undefined;
      }
    }
  };
}

function settledOrAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      signal.removeEventListener("abort", done);
      resolve();
    };
    signal.addEventListener("abort", done, { once: true });
    promise.then(done, done);
  });
}
