import { JudgedBody } from "../../model/call-bodies.ts";
import type { JsonObject } from "../../model/json/json.ts";
import type { Maybe } from "../../tool-definition.ts";
import { sharedTrace } from "../shared-trace.ts";
import { assessCall, type Viewed } from "./assess-call.ts";
import type { BatchRun, CallRun } from "./call-run.ts";
import type { Taken } from "./intake.ts";
import type { HookView } from "./rewrite.ts";

/** A call that was judged: the frozen request, the decision on it, and under what it was made. */
export type Ready = Viewed & {
  readonly taken: Taken;
  /** How many unsafe calls of the batch had run when the facts were gathered. */
  readonly unsafeRuns: number;
  readonly hook: HookView | undefined;
};

type Judging = { readonly taken: Taken; readonly hook: HookView | undefined; readonly editedBy?: string };

/** Assesses the call and records the decision. The record is on its way when this returns. */
export function judge(batch: BatchRun, run: CallRun, what: Judging): Maybe<Ready> {
  const ready = assess(batch, run, what);
  const { editedBy } = what;
  return ready instanceof Promise ? recordLater(batch, run, { ready, editedBy }) : recordJudgement(batch, run, { ready, editedBy });
}

type Judgement<R> = { readonly ready: R; readonly editedBy: string | undefined };

async function recordLater(batch: BatchRun, run: CallRun, { ready, editedBy }: Judgement<Promise<Ready>>): Promise<Ready> {
  return recordJudgement(batch, run, { ready: await ready, editedBy });
}

/** Judges the call as it stands. Nothing is recorded. */
export function assess(batch: BatchRun, run: CallRun, { taken, hook }: Judging): Maybe<Ready> {
  const assessed = assessCall(batch, run, { taken, hook });
  return assessed instanceof Promise ? readyLater(batch, assessed, { taken, hook }) : readyOf(batch, assessed, { taken, hook });
}

async function readyLater(batch: BatchRun, assessed: Promise<Viewed>, judging: Judging): Promise<Ready> {
  return readyOf(batch, await assessed, judging);
}

function readyOf(batch: BatchRun, viewed: Viewed, { taken, hook }: Judging): Ready {
  const { request, decision, facts, safe, policy, circumstances, subject, stages, asking, refusal } = viewed;
  const unsafeRuns = batch.lanes.unsafe;
  return { request, decision, facts, safe, policy, circumstances, subject, stages, asking, refusal, taken, unsafeRuns, hook };
}

/** Not awaited: a judgement that could not be stored shows at the claim or the end, neither of which can be stored without it. */
function recordJudgement(batch: BatchRun, run: CallRun, { ready, editedBy }: Judgement<Ready>): Ready {
  const { session } = batch.deps;
  const { request, decision, facts, safe, policy, taken } = ready;
  const body = new JudgedBody({
    call: run.callId,
    revision: run.judgements + 1,
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
    trace: sharedTrace(decision.trace),
    units: decision.units,
    policy: policy.revision,
  });
  if (request.fingerprint !== undefined) body.fingerprint = request.fingerprint;
  if (taken.coercions.length > 0) body.coerced = taken.coercions as readonly unknown[] as readonly JsonObject[];
  if (facts.planDigest !== undefined) body.planDigest = facts.planDigest;
  if (editedBy !== undefined) body.editedBy = editedBy;
  run.judgements += 1;
  const written = session.writeOne(session.draft("call.judged", body, batch.passAt || undefined), "normal");
  run.written = written instanceof Promise ? written : undefined;
  run.written?.catch(ignoreUntilClaim);
  return ready;
}

function ignoreUntilClaim(): void {
  // The claim or the end that follows fails with the same cause, and says so.
}

/** Looks at the world again and judges under the present policy; the input stays what it was. */
export async function rejudge(batch: BatchRun, run: CallRun, { taken, hook }: Ready): Promise<Ready> {
  const ready = await judge(batch, run, { taken, hook });
  await run.written;
  return ready;
}

/** What an outside service may know this call by: the same for every attempt. */
export function callKey({ deps }: BatchRun, run: CallRun, fingerprint: string | undefined): string {
  return deps.digest.sha256(`${deps.session.ledger.storeId}\n${deps.session.id}\n${run.callId}\n${fingerprint ?? ""}`);
}
