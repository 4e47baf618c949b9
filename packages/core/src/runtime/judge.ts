import { decide } from "../model/decide.ts";
import type { Decision, Guard, Hint } from "../model/decision.ts";
import type { EventBodies } from "../model/events.ts";
import { isObject, type JsonObject } from "../model/json.ts";
import { CONCURRENCY_SAFE_KINDS } from "../model/kind.ts";
import { fingerprintText, type Request } from "../model/request.ts";
import type { Digest, Policy, RequestFacts } from "../ports.ts";
import type { Maybe, ToolOpinion } from "../tool-definition.ts";
import { toolDigest } from "../tool-digest.ts";
import type { BatchRun, CallRun } from "./call-run.ts";
import { callContext, type Taken } from "./intake.ts";
import type { HookView } from "./rewrite.ts";
import { within } from "./within.ts";

/** A call that was judged: the frozen request, the decision on it, and under what it was made. */
export type Ready = {
  readonly taken: Taken;
  readonly request: Request;
  readonly decision: Decision;
  readonly facts: RequestFacts;
  /** Runs beside others. */
  readonly safe: boolean;
  readonly policy: Policy;
  /** How many unsafe calls of the batch had run when the facts were gathered. */
  readonly unsafeRuns: number;
  readonly hook: HookView | undefined;
};

const PERMISSION_LIMIT_MS = 5_000;

type Judging = { readonly taken: Taken; readonly hook: HookView | undefined; readonly editedBy?: string };

/** Assesses the call and records the decision. The record is on its way when this returns. */
export function judge(batch: BatchRun, run: CallRun, what: Judging): Maybe<Ready> {
  const ready = assess(batch, run, what);
  if (!(ready instanceof Promise)) return recordJudgement(batch, run, { ready, editedBy: what.editedBy });
  return ready.then((assessed) => recordJudgement(batch, run, { ready: assessed, editedBy: what.editedBy }));
}

/** Gathers facts, freezes the request and lets everyone speak. Nothing is recorded. */
export function assess(batch: BatchRun, run: CallRun, { taken, hook }: Judging): Maybe<Ready> {
  const gathered = gatherFacts(batch, run, taken);
  const opinion = toolOpinion(batch, taken);
  if (!(gathered instanceof Promise) && !(opinion instanceof Promise)) return conclude(batch, run, { taken, hook, gathered, opinion });
  return Promise.all([gathered, opinion]).then(([facts, said]) => conclude(batch, run, { taken, hook, gathered: facts, opinion: said }));
}

type Gathered = { readonly facts: RequestFacts; readonly failure: string | undefined };

function gatherFacts(batch: BatchRun, run: CallRun, { tool, invocation }: Taken): Maybe<Gathered> {
  const plain: RequestFacts = { units: [{ subject: tool.name }], binds: {} };
  const { facts: gather } = batch.deps;
  if (!gather) return { facts: plain, failure: undefined };
  const failed = (error: unknown): Gathered => ({ facts: plain, failure: error instanceof Error ? error.message : String(error) });
  try {
    const { cwd } = callContext(batch, run);
    const facts = gather({ tool: tool.name, kind: tool.kind, input: invocation.input, cwd, locations: invocation.locations() });
    const checked = (found: RequestFacts): Gathered =>
      areFacts(found) ? { facts: found, failure: undefined } : failed("they make no sense");
    return facts instanceof Promise ? facts.then(checked, failed) : checked(facts);
  } catch (error) {
    return failed(error);
  }
}

/** A port of the user's may answer anything; nonsense must not pass for "nothing to see". */
function areFacts(found: unknown): boolean {
  if (!isObject(found)) return false;
  const { units, binds } = found;
  return (
    Array.isArray(units) &&
    units.length > 0 &&
    units.every((unit) => isObject(unit) && typeof unit["subject"] === "string") &&
    isObject(binds)
  );
}

function toolOpinion({ deps }: BatchRun, { invocation }: Taken): Maybe<ToolOpinion> {
  const opinion = invocation.opinion();
  if (!(opinion instanceof Promise)) return opinion;
  const late: ToolOpinion = { verdict: "ask", declared: true, note: "tool permission failed: it did not answer within 5 s" };
  return within(deps.clock, { promise: opinion, ms: PERMISSION_LIMIT_MS, late: () => late });
}

type Heard = {
  readonly taken: Taken;
  readonly hook: HookView | undefined;
  readonly gathered: Gathered;
  readonly opinion: ToolOpinion;
};

function conclude(batch: BatchRun, run: CallRun, { taken, hook, gathered, opinion }: Heard): Ready {
  const { deps } = batch;
  const { facts, failure } = gathered;
  const policy = batch.policy();
  const { cwd } = callContext(batch, run);
  const plain: Request = {
    tool: taken.tool.name,
    toolDigest: toolDigest(taken.tool, deps.digest),
    kind: taken.tool.kind,
    input: taken.invocation.input,
    cwd,
    binds: facts.binds,
    units: facts.units,
  };
  const proven = facts.safe === true || taken.invocation.safe();
  const safe = proven || CONCURRENCY_SAFE_KINDS.includes(taken.tool.kind);
  const { unknown } = deps.session.state;
  const request = deps.session.ledger.durable || run.resumed || !safe || unknown.size > 0 ? fingerprinted(plain, deps.digest) : plain;
  const guards = ownGuards({ policy, failure, unknown: !safe && unknown.has(request.fingerprint ?? "") });
  const hint = makeHint({ taken, facts, opinion, proven, policy, hook });
  const decision = decide(request, { mode: policy.mode, checkers: policy.checkers, guards, hint });
  const needed = decision.verdict === "ask" ? fingerprinted(request, deps.digest) : request;
  return { taken, request: needed, decision, facts, safe, policy, unsafeRuns: batch.lanes.unsafeRuns(), hook };
}

/** The request with its fingerprint, computed when first needed. */
export function fingerprinted<R extends Request>(request: R, digest: Digest): R & { readonly fingerprint: string } {
  const { fingerprint } = request;
  return fingerprint === undefined ? { ...request, fingerprint: digest.sha256(fingerprintText(request)) } : { ...request, fingerprint };
}

type OwnGuards = { readonly policy: Policy; readonly failure: string | undefined; readonly unknown: boolean };

/** The policy's guards and the runtime's own two: an outcome nobody knows, and facts nobody could gather. Both insist on a person. */
function ownGuards({ policy, failure, unknown }: OwnGuards): readonly Guard[] {
  if (failure === undefined && !unknown) return policy.guards;
  const own: Guard[] = [];
  if (unknown) own.push({ id: "recovery", check: () => ({ verdict: "ask", note: "the same call ended with an unknown outcome" }) });
  if (failure !== undefined) own.push({ id: "analysis-failed", check: () => ({ verdict: "ask", note: failure }) });
  return [...policy.guards, ...own];
}

type Hinting = {
  readonly taken: Taken;
  readonly facts: RequestFacts;
  readonly opinion: ToolOpinion;
  readonly proven: boolean;
  readonly policy: Policy;
  readonly hook: HookView | undefined;
};

function makeHint({ taken, facts, opinion, proven, policy, hook }: Hinting): Hint {
  return {
    ...(opinion.declared && { tool: opinion.verdict }),
    ...(opinion.note !== undefined && { toolNote: opinion.note }),
    readOnly: policy.honourReadOnlyHint && (taken.tool.readOnlyHint || proven),
    safe: proven,
    insideWorkspace: facts.insideWorkspace === true,
    planFile: facts.planFile === true,
    ...(hook?.verdict !== undefined && {
      hook: { verdict: hook.verdict, name: hook.name, ...(hook.reason !== undefined && { reason: hook.reason }) },
    }),
  };
}

/** Not awaited: a judgement that could not be stored shows at the claim or the end, neither of which can be stored without it. */
function recordJudgement(
  batch: BatchRun,
  run: CallRun,
  { ready, editedBy }: { readonly ready: Ready; readonly editedBy: string | undefined },
): Ready {
  const { session } = batch.deps;
  const { request, decision, facts, safe, policy, taken } = ready;
  const body: EventBodies["call.judged"] = {
    call: run.callId,
    revision: run.judgements + 1,
    ...(request.fingerprint !== undefined && { fingerprint: request.fingerprint }),
    tool: request.tool,
    toolDigest: request.toolDigest,
    kind: request.kind,
    safe,
    input: request.input,
    ...(taken.coercions.length > 0 && { coerced: taken.coercions as readonly unknown[] as readonly JsonObject[] }),
    cwd: request.cwd,
    binds: request.binds,
    verdict: decision.verdict,
    explicitAsk: decision.explicitAsk,
    reason: decision.reason,
    source: decision.source,
    rule: decision.rule ?? null,
    trace: decision.trace,
    units: decision.units,
    ...(facts.planDigest !== undefined && { planDigest: facts.planDigest }),
    policy: policy.revision,
    ...(editedBy !== undefined && { editedBy }),
  };
  run.judgements += 1;
  run.written = session.record([session.draft("call.judged", body)], "normal");
  run.written.catch(ignoreUntilClaim);
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
