import { ParkRequest } from "../../errors.ts";
import type { JsonObject } from "../../model/json/json.ts";
import type { OpenApproval, Policy } from "../../ports.ts";
import type { QueuedAction, Tool } from "../../tool-definition.ts";
import type { Batch, DispatchEvent, DispatcherDeps, Ending } from "../dispatch.ts";
import type { ChosenTarget } from "../proposal/resolve.ts";
import type { Staging } from "../proposal/staging.ts";
import type { HookWords } from "./hook-words.ts";
import type { Lanes } from "./lanes.ts";
import type { RepeatGuard } from "./repeat-guard.ts";

/** Everything the calls of one batch share. */
export type BatchRun = {
  readonly deps: DispatcherDeps;
  readonly batch: Omit<Batch, "calls">;
  /** Every call under way in this dispatcher, nested ones too. */
  readonly live: LiveCalls;
  /** The calls of the batch, in call order. */
  readonly runs: CallRun[];
  /** Nested calls, each with its end: a batch is over when they are. */
  readonly nested: Promise<unknown>[];
  /** Absent if there is no observer. */
  readonly emit: ((event: DispatchEvent) => void) | undefined;
  readonly lanes: Lanes;
  readonly staging: Staging;
  /** Proposals that waited when the batch began: no call of it is about one that came later. */
  readonly stagedBefore: readonly string[];
  /** The policy of this moment; a throw of its source denies. */
  readonly policy: () => Policy;
  readonly repeats: RepeatGuard;
  /** Why the run ends, by call index: set by post-tool hooks, `onAsk: fail` and interrupts. */
  readonly stops: Map<number, string>;
  /** Approvals that are before a person now, by id. */
  readonly shown: Map<string, OpenApproval>;
  /** Rejections a person has spoken past since: the same call may be asked about again. */
  readonly forgiven: Set<string>;
  /** Set when an end could not be recorded: nothing more may run in this session. */
  readonly broken: { error: unknown };
  /** Why the turn ends with this batch, where no hook stops it. */
  endedBy: Exclude<SkipReason, "hook"> | undefined;
};

/** Why a call is skipped before it starts: a hook stopped the run, a person interrupted it, an approval could not be given, or a limit is reached. */
export type SkipReason = "hook" | "interrupted" | "unanswered" | "limit";

/** One call on its way through the pipeline; the only mutable thing the steps share. */
export type CallRun = {
  readonly callId: string;
  /** Place in the batch, and so in its lanes; -1 for a nested call, which has no lane. */
  readonly index: number;
  readonly name: string;
  /** What the model called it, and the id it gave it. */
  readonly calledAs: string;
  readonly givenId: string | null;
  readonly arguments: unknown;
  /** How deep below a model's own call: nested calls of a body count from 1. */
  readonly nested: boolean;
  /** The id another call of the batch already has. */
  readonly duplicateOf: string | undefined;
  readonly abort: AbortController;
  /** Why the call must not continue. */
  stopped: "cancelled" | "parked" | "skipped" | "timeout" | undefined;
  skippedBy: SkipReason | undefined;
  /** The cause, if it was not a person: a limit of the run. */
  because: string | undefined;
  /** True if `mayClaim` accepted the call. */
  counted: boolean;
  tool: Tool | undefined;
  input: JsonObject;
  phase: "before" | "running" | "after";
  notified: boolean;
  /** Wakes the step that waits, if one does. */
  wake: (() => void) | undefined;
  /** How many nested calls the body has made. */
  children: number;
  startedAt: number;
  /** How often the call was judged. */
  judgements: number;
  /** The newest judgement on its way to the ledger. */
  written: Promise<unknown> | undefined;
  /** The call has waited, or comes from an earlier process: an allow alone no longer lets it run. */
  resumed: boolean;
  /** Position of the consent whose edit was judged; if what it touches changed since, a person is asked again. */
  editJudged: number | undefined;
  /** What the request of an earlier process was bound to when it was shown, until that was compared. */
  boundTo: Readonly<Record<string, string>> | undefined;
  /** Ends the hold on the session that an unsafe call has from its claim to its end. */
  release: (() => void) | undefined;
  /** The idempotency key the claim was stored with. */
  key: string | null;
  /** Position of a consent that no longer counts: a person is asked again. */
  voided: number | undefined;
  /** A `permission_request` hook is consulted once per call. */
  hookAsked: boolean;
  /** What `pre_tool_use` hooks want the model to know with the result. */
  hookWords: HookWords | undefined;
  /** The recorded input is used, not the arguments. */
  restore: boolean;
  /** What a call of `resolve` is about, once its request was frozen. */
  target: ChosenTarget | undefined;
  /** The request that waits may have changed and is judged again. */
  askAgain: boolean;
  /** Actions the body staged. */
  readonly pushed: QueuedAction[];
  /** Spans of asking and answering, for the body's span to link to. */
  readonly approvalSpans: { context: never }[];
};

/** The calls under way in one dispatcher. */
export type LiveCalls = Set<CallRun>;

/** A step's result: the call for the next step, or its end. */
export type StepResult<T extends object> = T | { readonly end: Ending };

/** Stops a call at any step. */
export function stopCall(run: CallRun, why: NonNullable<CallRun["stopped"]>, because?: string): void {
  if (run.stopped || run.phase === "after") return;
  run.stopped = why;
  run.because = because;
  run.abort.abort(
    new DOMException(why === "timeout" ? "timeout" : "The tool call was cancelled.", why === "timeout" ? "TimeoutError" : "AbortError"),
  );
  run.wake?.();
}

/** True if the session is being parked and this call can wait for a later process. A nested call cannot: it ends with its body. */
export function isParking({ stopped, nested }: CallRun): boolean {
  return stopped === "parked" && !nested;
}

/** Ends this call's hold on the session. */
export function releaseSession(run: CallRun): void {
  run.release?.();
  run.release = undefined;
}

/** Ends every call of the batch that has not started. */
export function skipRest(batch: BatchRun, why: SkipReason, because?: string): void {
  if (why !== "hook") batch.endedBy ??= why;
  for (const run of batch.runs) {
    if (run.phase !== "before" || (why === "limit" && run.counted)) continue;
    run.skippedBy = why;
    stopCall(run, why === "interrupted" ? "cancelled" : "skipped", because);
  }
}

/** Resolves once the call's records are on disk or failed; a verdict is not announced before. */
export async function awaitWritten({ written }: CallRun): Promise<void> {
  await written?.catch(() => undefined);
}

/** Stops every call of a batch whose signal has aborted. If the user did not cause it, the results tell the model what did. */
export function stopAll({ runs, batch: { signal } }: BatchRun): void {
  const reason: unknown = signal.reason;
  const parks = reason instanceof ParkRequest;
  const ranOut = reason instanceof DOMException && reason.name === "TimeoutError";
  for (const run of runs) stopCall(run, parks ? "parked" : "cancelled", parks || ranOut ? reason.message : undefined);
}

const NOTHING: JsonObject = Object.freeze({});

/** A new run of one call. */
export function makeRun(
  call: Pick<CallRun, "callId" | "index" | "name" | "arguments"> & {
    readonly calledAs?: string;
    readonly givenId?: string | null;
    readonly nested?: boolean;
    readonly duplicateOf?: string | undefined;
  },
): CallRun {
  return {
    callId: call.callId,
    index: call.index,
    name: call.name,
    calledAs: call.calledAs ?? call.name,
    givenId: call.givenId ?? null,
    arguments: call.arguments,
    nested: call.nested === true,
    duplicateOf: call.duplicateOf,
    abort: new AbortController(),
    stopped: undefined,
    skippedBy: undefined,
    because: undefined,
    counted: false,
    tool: undefined,
    input: NOTHING,
    phase: "before",
    notified: false,
    wake: undefined,
    children: 0,
    startedAt: 0,
    judgements: 0,
    written: undefined,
    resumed: false,
    editJudged: undefined,
    boundTo: undefined,
    release: undefined,
    key: null,
    voided: undefined,
    hookAsked: false,
    hookWords: undefined,
    restore: false,
    target: undefined,
    askAgain: false,
    pushed: [],
    approvalSpans: [],
  };
}
