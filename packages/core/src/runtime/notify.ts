import { toolHookInput } from "../model/hook-input.ts";
import type { JsonObject } from "../model/json.ts";
import type { NotificationSource } from "../model/notification-source.ts";
import { messageOf } from "../model/thrown.ts";
import type { BatchRun, CallRun } from "./call-run.ts";
import type { DecisionNotice } from "./dispatch.ts";
import type { Ready } from "./judge.ts";
import { hookSession } from "./rewrite.ts";

/** A final verdict and the stable words for who gave it. */
export type Notifying = { readonly ready: Ready; readonly source: NotificationSource };

/** Tells observers and hooks that the verdict on this call is final: once per call, whatever else happens to it. */
export function notify(batch: BatchRun, run: CallRun, notifying: Notifying): void {
  if (run.notified) return;
  run.notified = true;
  const { hooks, decided, warn } = batch.deps;
  if (!hooks && !decided) return;
  try {
    decided?.(noticeOf(run, notifying));
    tellHooks(batch, run, notifying);
  } catch (error) {
    warn?.(`a decision observer failed: ${messageOf(error)}`);
  }
}

function noticeOf(run: CallRun, { ready, source }: Notifying): DecisionNotice {
  const { request, decision } = ready;
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

function tellHooks(batch: BatchRun, run: CallRun, { ready, source: { decision, source } }: Notifying): void {
  const { hooks } = batch.deps;
  if (!hooks) return;
  const { tool, kind, input, fingerprint } = ready.request;
  const about = (event: string): JsonObject => toolHookInput(hookSession(batch, run), { event, tool, kind, callId: run.callId, input });
  const final = { approval_decision: decision, approval_source: source, fingerprint: fingerprint ?? "" };
  hooks.tell("on_tool_approval_decision", { ...about("on_tool_approval_decision"), ...final });
  if (decision === "deny")
    hooks.tell("permission_denied", { ...about("permission_denied"), reason: ready.decision.note ?? source, error_type: source });
}
