import { ToolError } from "../../errors.ts";
import { stagingUnavailable } from "../../invocation.ts";
import { copyGiven } from "../../model/json/copy.ts";
import type { Json, JsonObject } from "../../model/json/json.ts";
import type { Kind } from "../../model/kind.ts";
import type { ProposalManifest } from "../../model/proposal/proposal.ts";
import type { PendingAction, QueuedAction, RunContext } from "../../tool-definition.ts";
import { toolDigest } from "../../tool-digest.ts";
import type { Ending } from "../dispatch.ts";
import type { BatchRun, CallRun } from "../pipeline/call-run.ts";
import { callContext } from "../pipeline/intake.ts";
import type { JudgedCall } from "../pipeline/judged-call.ts";
import { discardProposal } from "./discard.ts";
import { STAGING_FAILED } from "./preview-call.ts";
import { byRuntime } from "./settling.ts";
import { oneLine, type ProposalSource, recordStaged, stagedBody } from "./stage.ts";
import type { Closure, Staging, StagingCall } from "./staging.ts";

/** A pending action with the name of its source. */
export type ResolveHandler = PendingAction & { readonly sourceToolName: string; readonly callId?: string };

const SOURCE = "custom_tool";
const MOST_DETAILS = 64 * 1024;

/** Stages an action of this process; `staged` resolves once it is recorded. */
export function pushAction(staging: Staging, action: PendingAction & { readonly callId?: string }, made?: StagingCall): QueuedAction {
  if (!staging.changes) return stagingUnavailable();
  const checked = checkAction(action);
  const id = staging.ids.next("p_");
  const source = sourceOf(staging, checked.sourceToolName, made, made?.callId ?? action.callId ?? null);
  const staged = stagedBody(staging, source, {
    id,
    label: checked.label,
    manifest: manifestOf(checked.details),
    carrier: "closure",
    contents: [],
  });
  staging.closures.set(id, { ...checked, made });
  const recorded = recordStaged(staging, { staged }).catch((error: unknown) => {
    staging.closures.delete(id);
    throw error;
  });
  recorded.catch(() => undefined);
  return { id, staged: recorded };
}

type CheckedAction = Pick<Closure, "apply" | "reject" | "details"> & { readonly label: string; readonly sourceToolName: string };

function checkAction(given: unknown): CheckedAction {
  // a custom tool may pass any value
  const action = (typeof given === "object" && given !== null ? given : {}) as Partial<PendingAction>;
  const label = typeof action.label === "string" ? oneLine(action.label) : "";
  if (label === "") throw new ToolError("Pending action needs a label.");
  if (typeof action.apply !== "function") throw new ToolError("Pending action needs an apply function.");
  if (action.reject !== undefined && typeof action.reject !== "function")
    throw new ToolError("Pending action needs reject to be a function.");
  const name = typeof action.sourceToolName === "string" ? oneLine(action.sourceToolName) : "";
  return {
    label,
    apply: action.apply,
    ...(action.reject && { reject: action.reject }),
    sourceToolName: name || SOURCE,
    details: checkDetails(action.details),
  };
}

function checkDetails(given: unknown): Json | undefined {
  if (given === undefined) return undefined;
  const details = copyGiven(given);
  if (details === undefined) throw new ToolError("Pending action details must be JSON.");
  if (JSON.stringify(details).length > MOST_DETAILS) throw new ToolError("Pending action details must be at most 64 KiB.");
  return details;
}

function manifestOf(details: Json | undefined): ProposalManifest {
  const blocks = ["effects are not recorded"];
  if (details === undefined) return { blocks, effects: [] };
  return { blocks: [...blocks, JSON.stringify(details, null, 2)], effects: [], details };
}

function sourceOf(staging: Staging, name: string, made: StagingCall | undefined, callId: string | null): ProposalSource {
  if (!made) return { callId, tool: name, toolDigest: "", kind: KIND, cwd: staging.session.state.created?.cwd ?? "/", input: NOTHING };
  const { tool, invocation, cwd } = made;
  return { callId, tool: name, toolDigest: toolDigest(tool, staging.digest), kind: tool.kind, cwd, input: invocation.input };
}

const KIND: Kind = "other";
const NOTHING: JsonObject = Object.freeze({});

/** The apply is judged as this call. */
export function pushFromCall(batch: BatchRun, run: CallRun, { tool, invocation }: JudgedCall, action: PendingAction): QueuedAction {
  const { staging } = batch;
  if (!staging.changes) return stagingUnavailable();
  if (run.phase === "after") throw new ToolError("pushPendingAction needs a running tool call.", "no_running_call");
  const { cwd, callId } = callContext(batch, run);
  const pushed = pushAction(staging, action, { callId, cwd, tool, invocation });
  run.pushed.push(pushed);
  return pushed;
}

/** Discards staged actions if their call failed. */
export async function keepPushed(batch: BatchRun, run: CallRun, ending: Ending): Promise<Ending> {
  const { staging } = batch;
  const { pushed } = run;
  const stored = await Promise.allSettled(pushed.map(({ staged }) => staged));
  const failure = stored.find((each) => each.status === "rejected");
  if (ending.state !== "succeeded" || failure) {
    for (const { id } of pushed) await discardPushed(batch, id);
  }
  if (failure?.status === "rejected") throw failure.reason;
  return ending;

  async function discardPushed({ deps }: BatchRun, id: string): Promise<void> {
    if (!deps.session.state.proposals.has(id)) return;
    const { signal } = new AbortController();
    const settling = { resolution: byRuntime(staging, STAGING_FAILED), signal, ctx: bareContext(staging, { callId: run.callId, signal }) };
    const end = await discardProposal(staging, id, settling);
    if (end.state !== "succeeded") staging.warn(`proposal ${id} could not be discarded: ${end.result.error?.message ?? end.state}`);
  }
}

/** The context of code that runs outside a call. */
export function bareContext(
  { session, policy }: Staging,
  { callId, signal }: { readonly callId: string; readonly signal: AbortSignal },
): RunContext {
  return {
    cwd: session.state.created?.cwd ?? "/",
    callId,
    sessionId: session.id,
    mode: policy().mode,
    signal,
    update: () => undefined,
    gate: () => Promise.reject(new ToolError("Nested calls need a running tool call.", "no_running_call")),
    attempt: 1,
    idempotencyKey: null,
    started: async () => undefined,
    pushPendingAction: () => {
      throw new ToolError("pushPendingAction needs a running tool call.", "no_running_call");
    },
  };
}
