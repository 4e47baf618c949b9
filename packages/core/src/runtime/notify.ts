import { toolHookInput } from "../model/hook-input.ts";
import type { NotificationSource } from "../model/notification-source.ts";
import type { BatchRun, CallRun } from "./call-run.ts";
import type { DecisionNotice } from "./dispatch.ts";
import type { Ready } from "./judge.ts";
import { hookSession } from "./rewrite.ts";

/** Tells observers and hooks that the verdict on this call is final: once per call, whatever else happens to it. */
export function notify(
  batch: BatchRun,
  run: CallRun,
  { ready, source }: { readonly ready: Ready; readonly source: NotificationSource },
): void {
  if (run.notified) return;
  run.notified = true;
  const { hooks, decided, warn } = batch.deps;
  if (!hooks && !decided) return;
  const { request, decision } = ready;
  const notice: DecisionNotice = {
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
  try {
    decided?.(notice);
    if (!hooks) return;
    const base = toolHookInput(hookSession(batch, run), {
      event: "on_tool_approval_decision",
      tool: request.tool,
      kind: request.kind,
      callId: run.callId,
      input: request.input,
    });
    hooks.tell("on_tool_approval_decision", {
      ...base,
      approval_decision: source.decision,
      approval_source: source.source,
      fingerprint: request.fingerprint ?? "",
    });
    if (source.decision === "deny")
      hooks.tell("permission_denied", {
        ...base,
        hook_event_name: "PermissionDenied",
        reason: decision.note ?? source.source,
        error_type: source.source,
      });
  } catch (error) {
    warn?.(`a decision observer failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}
