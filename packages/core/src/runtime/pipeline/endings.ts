import { isToolError } from "../../errors.ts";
import type { Call } from "../../model/call.ts";
import type { RuleRef } from "../../model/decision.ts";
import type { OutcomeState } from "../../model/outcome.ts";
import type { ToolResult } from "../../model/result/result.ts";
import { errorTypeOf, messageOf } from "../../model/result/thrown.ts";
import { CANCELLED_BEFORE, modelText } from "../../model/text/model-text.ts";
import type { Ending } from "../dispatch.ts";
import { type CallRun, toolName } from "./call-run.ts";
import type { JudgedCall } from "./judged-call.ts";

/** An end the runtime itself makes: an error result with its type, and the same text for model and person. */
export function errorEnding(state: OutcomeState, type: string, text: string): Ending {
  return { state, type, result: { content: text, display: text, error: { message: text, type } } };
}

export function thrownResult(thrown: unknown): ToolResult {
  const message = messageOf(thrown);
  return {
    content: isToolError(thrown) ? message : modelText.execution_failed(message),
    display: message,
    error: { message, type: errorTypeOf(thrown) },
  };
}

/** A denied request, judged now or read from the record. */
type DeniedRequest = {
  readonly request: { readonly tool: string };
  readonly decision: {
    readonly reason: string;
    readonly source: string;
    readonly rule?: RuleRef | null | undefined;
    readonly note?: string | undefined;
  };
  readonly refusal?: Ending | undefined;
};

/** The ending of a denied call, worded by the source of the deny. `waited`: the policy changed while the call waited. */
export function denialEnding({ request, decision, refusal }: DeniedRequest, waited: boolean): Ending {
  if (refusal) return refusal;
  const name = request.tool;
  const { reason, source, rule, note } = decision;
  if (waited && (reason === "checker" || reason === "mode")) {
    const label = reason === "mode" ? `mode ${source}` : source;
    return errorEnding("denied", "denied_policy_changed", modelText.denied_policy_changed({ name, label }));
  }
  switch (reason) {
    case "guard":
      return errorEnding("denied", "denied_by_guard", modelText.denied_by_guard({ name, protects: note ?? source }));
    case "mode":
      return errorEnding("denied", "denied_by_mode", modelText.denied_by_mode({ name }));
    case "tool":
      return errorEnding("denied", "denied_by_tool", modelText.denied_by_tool({ name, reason: note }));
    case "hook":
      return errorEnding("denied", "denied_by_hook", modelText.denied_by_hook(note ?? `blocked by hook ${source}`));
    default:
      return errorEnding("denied", "denied_by_rule", modelText.denied_by_rule({ name, label: source, because: rule?.because }));
  }
}

/** The ending of a call whose approval closed without consent. */
export function closedApprovalEnding(
  { request, asking }: JudgedCall,
  { approvalState, reason }: Extract<Call, { readonly state: "waiting" }>,
): Ending {
  const name = request.tool;
  switch (approvalState) {
    case "rejected":
      return rejection(asking, reason ?? undefined);
    case "expired":
      return errorEnding("expired", "approval_expired", modelText.approval_expired({ name }));
    case "denied":
      return errorEnding("denied", "denied_policy_changed", modelText.denied_policy_changed({ name, label: "the policy" }));
    case "cancelled":
    case "open":
      return errorEnding("cancelled", "cancelled", CANCELLED_BEFORE);
    default:
      return approvalState satisfies never;
  }
}

function rejection(asking: JudgedCall["asking"], reason: string | undefined): Ending {
  const own = asking?.rejected?.(reason);
  return errorEnding("rejected", own?.type ?? "rejected_by_user", own?.text ?? modelText.rejected_by_user(reason));
}

/** The ending of an ask if no one can be asked. The text never claims that a user declined. */
export function unattendedEnding({ request, asking }: JudgedCall, note: string | undefined): Ending {
  const text = asking?.unattended ?? modelText.denied_unattended({ name: request.tool });
  return errorEnding("denied", "denied_unattended", note === undefined ? text : `${text} ${note}`);
}

/** The ending of an ask whose approver threw or gave no usable answer. The program learns why from `warn`. */
export function approverFailedEnding({ request }: JudgedCall): Ending {
  return errorEnding("denied", "denied_unattended", modelText.denied_unattended({ name: request.tool, asked: true }));
}

/** After a restart: what the call was to do is not done, and it is not run again. */
export function notAppliedEnding(): Ending {
  return errorEnding("failed", "not_applied", "Did not happen: the program stopped before the change.");
}

export function resultEnding(result: ToolResult): Ending {
  if (!result.error) return { state: "succeeded", type: null, result };
  const type = result.error.type ?? "unknown";
  return { state: type === "execution_timeout" ? "timed_out" : "failed", type, result };
}

/** The ending of a call that was stopped before its body was done. `when`: what is known about its effects, if more than the phase says. */
export function stoppedEnding(run: CallRun, when: "before" | "during" = run.phase === "running" ? "during" : "before"): Ending {
  const name = toolName(run);
  if (run.because !== undefined) return stoppedBecause(run, { name, when, because: run.because });
  if (run.stopped === "skipped" && run.skippedBy === "unanswered") {
    return errorEnding("cancelled", "skipped", `Tool '${name}' was skipped: another call needed an approval that no one could give.`);
  }
  if (run.stopped === "skipped") return errorEnding("cancelled", "skipped", modelText.skipped({ name }));
  return errorEnding("cancelled", "cancelled", modelText.cancelled(when));
}

type StopCause = { readonly name: string; readonly when: "before" | "during"; readonly because: string };

/** Names the cause of a stop that did not come from the person at this process. */
function stoppedBecause({ stopped: how }: CallRun, { name, when, because }: StopCause): Ending {
  if (how === "skipped") return errorEnding("cancelled", "skipped", `Tool '${name}' was skipped: ${because}.`);
  const ran = when === "during";
  const text = `The tool call was cancelled ${ran ? "while it was running" : "before it ran"}: ${because}.`;
  return errorEnding("cancelled", "cancelled", ran ? `${text} It may have had effects.` : text);
}
