import { decidedSource } from "../../model/notification-source.ts";
import { messageOf } from "../../model/result/thrown.ts";
import type { Span, Tracer } from "../../ports.ts";
import type { Ending } from "../dispatch.ts";
import { type BatchRun, type CallRun, toolName } from "./call-run.ts";
import type { PermittedCall } from "./judged-call.ts";

const INTERNAL = 0;
const ERROR = 2;

/** Attributes of OpenTelemetry's experimental GenAI conventions, and ours. */
function attributesOf(batch: BatchRun, run: CallRun, { request, decision, tool, consent }: PermittedCall): Record<string, string> {
  return {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": request.tool,
    "gen_ai.tool.call.id": run.callId,
    "gen_ai.tool.description": tool.description,
    "gen_ai.tool.type": "function",
    ...(batch.batch.agentName !== undefined && { "gen_ai.agent.name": batch.batch.agentName }),
    "gen_ai.conversation.id": batch.deps.session.id,
    "assent.decision": "allow",
    "assent.decision.source": consent?.source ?? decidedSource(decision).source,
    "assent.tool.kind": request.kind,
    ...(request.fingerprint !== undefined && { "assent.fingerprint": request.fingerprint }),
  };
}

/** Starts the span of a body, if there is a tracer. A throwing tracer changes nothing. */
export function startSpan(batch: BatchRun, run: CallRun, call: PermittedCall): Span | undefined {
  const { tracer } = batch.deps;
  if (!tracer) return undefined;
  const { approvalSpans: links } = run;
  return guarded(batch, () => start(tracer, call.request.tool, attributesOf(batch, run, call), links));
}

export function endSpan(batch: BatchRun, span: Span | undefined, end: Ending): void {
  if (span) guarded(batch, () => finish(span, end));
}

/** A call that never ran has a span of no length, with its error's type. */
export function traceUnrun(batch: BatchRun, run: CallRun, end: Ending): void {
  const { tracer } = batch.deps;
  if (!tracer) return;
  guarded(batch, () => {
    const name = toolName(run);
    const attributes = {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": name,
      "gen_ai.tool.call.id": run.callId,
      "gen_ai.conversation.id": batch.deps.session.id,
    };
    finish(start(tracer, name, attributes, run.approvalSpans), end);
  });
}

/** Records asking and answering as events on short spans, so that no span stays open while a person thinks. */
export function traceApproval(batch: BatchRun, run: CallRun, event: "assent.approval.requested" | "assent.approval.answered"): void {
  const { tracer } = batch.deps;
  if (!tracer) return;
  guarded(batch, () => {
    const span = tracer.startSpan("assent.approval", { kind: INTERNAL, attributes: { "gen_ai.tool.call.id": run.callId } });
    span.addEvent(event);
    span.end();
    run.approvalSpans.push({ context: span.spanContext() as never });
  });
}

function start(tracer: Tracer, tool: string, attributes: Record<string, string>, links: { context: never }[]): Span {
  return tracer.startSpan(`execute_tool ${tool}`, { kind: INTERNAL, attributes, links });
}

/** Sets an error status for failures, not for cancelled or rejected calls. Messages may contain secrets, so only the type is traced. */
function finish(span: Span, { state, type }: Ending): void {
  if (type !== null) span.setAttribute("error.type", type);
  const failed = state !== "succeeded" && state !== "cancelled" && state !== "rejected";
  if (failed) span.setStatus({ code: ERROR, message: type ?? state });
  span.end();
}

function guarded<T>({ deps }: BatchRun, act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    deps.warn?.(`the tracer failed: ${messageOf(error)}`);
    return undefined;
  }
}
