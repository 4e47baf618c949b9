import { toolHookInput } from "../../model/hooks/input.ts";
import type { JsonObject } from "../../model/json/json.ts";
import type { NotificationSource } from "../../model/notification-source.ts";
import { messageOf } from "../../model/result/thrown.ts";
import type { HookNotice } from "../../ports.ts";
import type { DecisionNotice } from "../dispatch.ts";
import { callListener } from "../waiting.ts";
import type { BatchRun, CallRun } from "./call-run.ts";
import type { JudgedCall } from "./judged-call.ts";
import { hookSession, hooksOf } from "./rewrite.ts";

/** A final verdict and the stable words for who gave it. */
export type FinalVerdict = { readonly judged: JudgedCall; readonly source: NotificationSource };

function isObserved({ deps }: BatchRun): boolean {
  return deps.hooks !== undefined || (deps.decided !== undefined && (deps.isObserved?.() ?? true));
}

/** Tells observers and hooks that the verdict on this call is final, once per call. */
export function notifyVerdict(batch: BatchRun, run: CallRun, verdict: FinalVerdict): void {
  if (run.notified) return;
  run.notified = true;
  if (isObserved(batch)) announce(batch, run, noticeOf(run, verdict));
}

/** The same for a call that was cancelled before there was a verdict. */
export function notifyUnjudged(batch: BatchRun, run: CallRun, { decision, source }: NotificationSource): void {
  if (run.notified || !run.tool) return;
  run.notified = true;
  announce(batch, run, { callId: run.callId, toolName: run.tool.name, input: run.input, decision, source });
}

/** Notifies hooks of a call; a failing hook changes nothing. */
export function tellHooks(batch: BatchRun, run: CallRun, event: HookNotice, input: () => JsonObject): void {
  callListener(
    () => hooksOf(batch, event, run.tool?.name ?? run.name)?.tell(event, input()),
    (error) => batch.deps.warn?.(`a hook for ${event} failed: ${messageOf(error)}`),
  );
}

function announce(batch: BatchRun, run: CallRun, notice: DecisionNotice): void {
  const { decided, warn } = batch.deps;
  callListener(
    () => decided?.(notice),
    (error) => warn?.(`a decision observer failed: ${messageOf(error)}`),
  );
  const event = "on_tool_approval_decision";
  tellHooks(batch, run, event, () => {
    const { toolName: tool, input, decision, source, fingerprint } = notice;
    const about = toolHookInput(hookSession(batch, run), { event, tool, kind: run.tool?.kind ?? "other", callId: run.callId, input });
    return { ...about, approval_decision: decision, approval_source: source, fingerprint: fingerprint ?? "" };
  });
}

function noticeOf(run: CallRun, { judged, source }: FinalVerdict): DecisionNotice {
  const { request, decision } = judged;
  return {
    callId: run.callId,
    toolName: request.tool,
    input: request.input,
    decision: source.decision,
    source: source.source,
    ...(decision.reason === "checker" && { label: decision.source }),
    ...(decision.rule && { rule: decision.rule.text }),
    ...(decision.note !== undefined && { reason: decision.note }),
    ...(request.fingerprint !== undefined && { fingerprint: request.fingerprint }),
  };
}
