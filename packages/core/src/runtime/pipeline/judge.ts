import type { EventBodies } from "../../model/events.ts";
import type { JsonObject } from "../../model/json/json.ts";
import { assessPreview } from "../proposal/assess-preview.ts";
import { assessResolve } from "../proposal/assess-resolve.ts";
import { assessQuestion } from "../question/judge.ts";
import { type AssessmentInput, assessRequest } from "./assess.ts";
import type { BatchRun, CallRun } from "./call-run.ts";
import { cwdOf } from "./intake.ts";
import type { CallAssessment, JudgedCall, ParsedCall } from "./judged-call.ts";

/** Freezes the request, judges it and starts to record the decision. `editedBy` is the answer that changed the input. */
export async function judgeCall(batch: BatchRun, run: CallRun, parsed: ParsedCall, editedBy?: string): Promise<JudgedCall> {
  const { session } = batch.deps;
  const judged = withAssessment(batch, parsed, await assessByTool(batch, run, parsed));
  run.judgements += 1;
  run.written = session.record([session.draft("call.judged", judgedBody(run, judged, editedBy))], "normal");
  run.written.catch(() => undefined); // the claim or the end that follows fails with the same cause
  return judged;
}

/** Gathers the facts again and judges under the present policy; the input stays the same. */
export async function rejudgeCall(batch: BatchRun, run: CallRun, parsed: ParsedCall): Promise<JudgedCall> {
  const judged = await judgeCall(batch, run, parsed);
  await run.written;
  return judged;
}

/** Judges the call as it is now. Nothing is recorded. */
export async function assessCall(batch: BatchRun, run: CallRun, parsed: ParsedCall): Promise<JudgedCall> {
  return withAssessment(batch, parsed, await assessByTool(batch, run, parsed));
}

function withAssessment({ lanes }: BatchRun, parsed: ParsedCall, assessment: CallAssessment): JudgedCall {
  const { tool, invocation, coercions, hook } = parsed;
  return { ...assessment, tool, invocation, coercions, hook, unsafeRuns: lanes.unsafe };
}

/** Judges a preview as reading, and an apply as the effect of the tool that made the preview. */
function assessByTool(batch: BatchRun, run: CallRun, parsed: ParsedCall): Promise<CallAssessment> {
  const input = assessmentInput(batch, run, parsed);
  if (isResolve(batch, parsed)) return assessResolve(batch, run, input);
  if (isAsk(batch, parsed)) return assessQuestion(input);
  if (parsed.tool.definition.preview === undefined) return assessRequest(input);
  return assessPreview(batch, input, parsed);
}

/** True for the runtime's own `resolve`; a host may replace it with a handler of its own. */
export function isResolve({ deps }: BatchRun, { tool }: Pick<ParsedCall, "tool">): boolean {
  return tool.definition.runtimeHandler === "resolve" && !Object.hasOwn(deps.handlers ?? {}, "resolve");
}

/** True for the runtime's own `ask`; a host may replace it with a handler of its own. */
export function isAsk({ deps }: Pick<BatchRun, "deps">, { tool }: Pick<ParsedCall, "tool">): boolean {
  return tool.definition.runtimeHandler === "ask" && !Object.hasOwn(deps.handlers ?? {}, "ask");
}

export function assessmentInput(batch: BatchRun, run: CallRun, { tool, invocation, hook }: ParsedCall): AssessmentInput {
  const { deps } = batch;
  return {
    tool,
    invocation,
    cwd: cwdOf(deps.session),
    facts: deps.facts,
    policy: batch.policy,
    hook,
    digest: deps.digest,
    clock: deps.clock,
    unknown: unknownFingerprints(deps),
    fingerprint: deps.session.ledger.durable || run.resumed,
  };
}

function unknownFingerprints({ session, unknown }: BatchRun["deps"]): ReadonlySet<string> {
  const own = session.state.unknown;
  return unknown === undefined || unknown.size === 0 ? own : new Set([...own, ...unknown]);
}

function judgedBody(run: CallRun, judged: JudgedCall, editedBy: string | undefined): EventBodies["call.judged"] {
  const { request, decision, facts, safe, policy, coercions } = judged;
  return {
    call: run.callId,
    revision: run.judgements,
    tool: request.tool,
    toolDigest: request.toolDigest,
    kind: request.kind,
    safe,
    input: request.input,
    cwd: request.cwd,
    binds: request.binds,
    verdict: decision.verdict,
    explicitAsk: decision.explicitAsk,
    reason: decision.reason,
    source: decision.source,
    rule: decision.rule ?? null,
    trace: decision.trace,
    units: decision.units,
    policy: policy.revision,
    ...(policy.version !== undefined && { policyVersion: policy.version }),
    ...(request.fingerprint !== undefined && { fingerprint: request.fingerprint }),
    ...(coercions.length > 0 && { coerced: coercions as readonly unknown[] as readonly JsonObject[] }),
    ...(request.containment && { containment: request.containment }),
    ...(facts.planDigest !== undefined && { planDigest: facts.planDigest }),
    ...(editedBy !== undefined && { editedBy }),
  };
}

/** A key for outside services, the same for every attempt. */
export function callKey({ deps }: BatchRun, run: CallRun, fingerprint: string | undefined): string {
  return deps.digest.sha256(`${deps.session.ledger.storeId}\n${deps.session.id}\n${run.callId}\n${fingerprint ?? ""}`);
}
