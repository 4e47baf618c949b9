import { toolHookInput } from "../../model/hooks/input.ts";
import type { JsonObject } from "../../model/json/json.ts";
import type { NotificationSource } from "../../model/notification-source.ts";
import { messageOf } from "../../model/result/thrown.ts";
import type { HookNotice } from "../../ports.ts";
import type { DecisionNotice } from "../dispatch.ts";
import { callListener } from "../waiting.ts";
import { type BatchRun, type CallRun, toolName } from "./call-run.ts";
import type { JudgedCall } from "./judged-call.ts";
import { hookCall, hookSession, hooksOf } from "./rewrite.ts";

/** A final verdict and the stable words for who gave it. A call that was cancelled before it was judged has no judgement. */
type FinalVerdict = { readonly judged: JudgedCall | undefined; readonly source: NotificationSource };

function isObserved({ deps }: BatchRun): boolean {
  return deps.hooks !== undefined || (deps.decided !== undefined && (deps.isObserved?.() ?? true));
}

/** Tells observers and hooks that the verdict on this call is final, once per call. */
export function notifyVerdict(batch: BatchRun, run: CallRun, verdict: FinalVerdict): void {
  if (run.notified || !run.tool) return;
  run.notified = true;
  if (isObserved(batch)) announce(batch, run, noticeOf(run, verdict));
}

/** Notifies hooks of a call; a failing hook changes nothing. */
export function tellHooks(batch: BatchRun, run: CallRun, event: HookNotice, input: () => JsonObject): void {
  callListener(
    () => hooksOf(batch, event, toolName(run))?.tell(event, input()),
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
    const { decision, source, fingerprint = "" } = notice;
    const about = toolHookInput(hookSession(batch, run), hookCall(run, event));
    return { ...about, approval_decision: decision, approval_source: source, fingerprint };
  });
}

function noticeOf(run: CallRun, { judged, source }: FinalVerdict): DecisionNotice {
  const notice = { callId: run.callId, toolName: toolName(run), input: run.input, ...source };
  if (!judged) return notice;
  const { request, decision } = judged;
  return {
    ...notice,
    ...(decision.reason === "checker" && { label: decision.source }),
    ...(decision.rule && { rule: decision.rule.text }),
    ...(decision.note !== undefined && { reason: decision.note }),
    ...(request.fingerprint !== undefined && { fingerprint: request.fingerprint }),
  };
}
