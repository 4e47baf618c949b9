import { ToolError } from "../../errors.ts";
import { stagingUnavailable } from "../../invocation.ts";
import type { PendingAction, QueuedAction } from "../../tool-definition.ts";
import { bareContext } from "../bare-context.ts";
import type { Ending } from "../dispatch.ts";
import type { BatchRun, CallRun } from "../pipeline/call-run.ts";
import { callContext } from "../pipeline/intake.ts";
import type { JudgedCall } from "../pipeline/judged-call.ts";
import { pushAction } from "./closures.ts";
import { discardProposal } from "./discard.ts";
import { STAGING_FAILED } from "./preview-call.ts";
import { byRuntime } from "./settling.ts";

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
