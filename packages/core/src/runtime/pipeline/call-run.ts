import { ParkRequest } from "../../errors.ts";
import type { JsonObject } from "../../model/json/json.ts";
import type { ToolResult } from "../../model/result/result.ts";
import type { OpenApproval, Policy } from "../../ports.ts";
import type { QueuedAction, Tool } from "../../tool-definition.ts";
import type { Batch, DispatchEvent, DispatcherDeps, Ending } from "../dispatch.ts";
import type { ChosenTarget } from "../proposal/resolve.ts";
import type { Staging } from "../proposal/staging.ts";
import type { CancelRequest } from "../session/cancel-requests.ts";
import type { HookWords } from "./hook-words.ts";
import type { Lanes } from "./lanes.ts";
import type { RepeatGuard } from "./repeat-guard.ts";

/** Everything the calls of one batch share. */
export type BatchRun = {
  readonly deps: DispatcherDeps;
  readonly batch: Omit<Batch, "calls">;
  /** Every call under way in this dispatcher, nested ones too. */
  readonly live: LiveCalls;
  readonly runs: CallRun[];
  /** Nested calls; the batch waits for them. */
  readonly nested: Promise<unknown>[];
  /** Absent if there is no observer. */
  readonly emit: ((event: DispatchEvent) => void) | undefined;
  readonly lanes: Lanes;
  readonly staging: Staging;
  /** Ids of the proposals that were staged when the batch began. */
  readonly stagedBefore: readonly string[];
  /** The policy of this moment; a throw of its source denies. */
  readonly policy: () => Policy;
  readonly repeats: RepeatGuard;
  /** Why the run ends, by call index: set by post-tool hooks, `onAsk: fail` and interrupts. */
  readonly stops: Map<number, string>;
  /** Approvals that are before a person now, by id. */
  readonly shown: Map<string, OpenApproval>;
  /** Fingerprints that may be asked about again after a rejection, because a person has sent a message since. */
  readonly forgiven: Set<string>;
  /** Set when an end could not be recorded; nothing more runs in this session. */
  readonly broken: { error: unknown };
  /** Why the turn ends with this batch, where no hook stops it. */
  endedBy: Exclude<SkipReason, "hook"> | undefined;
};

/** Why a call is skipped before it starts. `unanswered`: another call needed an approval that no one could give. */
export type SkipReason = "hook" | "interrupted" | "unanswered" | "limit";

/** The mutable state of one call in the pipeline. */
export type CallRun = {
  readonly callId: string;
  /** Place in the batch, and so in its lanes; -1 for a nested call, which has no lane. */
  readonly index: number;
  readonly name: string;
  /** The tool name the model used. */
  readonly calledAs: string;
  readonly givenId: string | null;
  readonly arguments: unknown;
  /** True if a tool body made the call. */
  readonly nested: boolean;
  /** The id another call of the batch already has. */
  readonly duplicateOf: string | undefined;
  readonly abort: AbortController;
  /** Why the call must not continue. */
  stopped: "cancelled" | "parked" | "skipped" | "timeout" | undefined;
  skippedBy: SkipReason | undefined;
  /** The cause, if it was not the person at this process: a limit of the run, or a person elsewhere. */
  because: string | undefined;
  /** True if `mayClaim` accepted the call. */
  counted: boolean;
  tool: Tool | undefined;
  input: JsonObject;
  phase: "before" | "running" | "after";
  /** Whether the call is certain to fail; never rejects. */
  failureCheck?: Promise<ToolResult | undefined> | undefined;
  notified: boolean;
  /** Wakes the step that waits, if one does. */
  wake: (() => void) | undefined;
  children: number;
  startedAt: number;
  judgements: number;
  /** The newest judgement on its way to the ledger. */
  written: Promise<unknown> | undefined;
  /** True for a call that waited in an earlier process; it needs consent even if it is allowed now. */
  resumed: boolean;
  /** Position of the consent whose edited input was judged. */
  editJudged: number | undefined;
  /** The binds that an earlier process showed, until they are compared with the present ones. */
  boundTo: Readonly<Record<string, string>> | undefined;
  /** Ends the hold that an unsafe call has on the session. */
  release: (() => void) | undefined;
  key: string | null;
  /** Position of a consent that no longer counts. */
  voided: number | undefined;
  /** A `permission_request` hook is consulted once per call. */
  hookAsked: boolean;
  /** What `pre_tool_use` hooks want the model to know with the result. */
  hookWords: HookWords | undefined;
  /** The recorded input is used, not the arguments. */
  restore: boolean;
  /** What a call of `resolve` is about, once its request was frozen. */
  target: ChosenTarget | undefined;
  /** True if the waiting request must be judged again. */
  askAgain: boolean;
  readonly pushed: QueuedAction[];
  /** Spans of asking and answering, for the body's span to link to. */
  readonly approvalSpans: { context: never }[];
};

export type LiveCalls = Set<CallRun>;

/** A step's result: the call for the next step, or its end. */
export type StepResult<T extends object> = T | { readonly end: Ending };

/** The tool's own name, or the one the model used if there is no such tool. */
export function toolName({ tool, name }: CallRun): string {
  return tool?.name ?? name;
}

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

/** Stops the calls that a person in another process asked to cancel. */
export function stopRequested(live: LiveCalls, { target, by, reason }: CancelRequest): void {
  if (target && "task" in target) return;
  const because = `${by.name} cancelled it${reason === null ? "" : ` (${reason})`}`;
  for (const run of live) if (target === null || target.call === run.callId) stopCall(run, "cancelled", because);
}

/** True if the session is being parked and this call can wait for a later process. A nested call cannot: it ends with its body. */
export function isParking({ stopped, nested }: CallRun): boolean {
  return stopped === "parked" && !nested;
}

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

/** Stops every call of an aborted batch. If a park or a time limit caused it, the results say so. */
export function stopAll({ runs, batch: { signal } }: BatchRun): void {
  const reason: unknown = signal.reason;
  const parks = reason instanceof ParkRequest;
  const ranOut = reason instanceof DOMException && reason.name === "TimeoutError";
  for (const run of runs) stopCall(run, parks ? "parked" : "cancelled", parks || ranOut ? reason.message : undefined);
}

const NOTHING: JsonObject = Object.freeze({});

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
