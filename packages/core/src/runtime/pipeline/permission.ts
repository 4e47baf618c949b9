import { isToolError } from "../../errors.ts";
import { type Call, type Consent, hasJudgement, isAsked, mayBeUnderWay } from "../../model/call.ts";
import { toolHookInput } from "../../model/hooks/input.ts";
import { answerSource, CANCELED, decidedSource, permissionHookSource } from "../../model/notification-source.ts";
import type { ToolResult } from "../../model/result/result.ts";
import { messageOf } from "../../model/result/thrown.ts";
import { modelText, modelTextSuffix } from "../../model/text/model-text.ts";
import type { HookOpinion } from "../../ports.ts";
import { askPerson } from "../approval/ask.ts";
import { closeApproval, stopBeforeClaim } from "../approval/close.ts";
import { offeredRules } from "../approval/confirm.ts";
import { applyGrant, findGrants } from "../approval/grants.ts";
import type { Ending } from "../dispatch.ts";
import { changedSinceConsent } from "./binds.ts";
import { type BatchRun, type CallRun, skipRest, toolName } from "./call-run.ts";
import { denialEnding, errorEnding, thrownResult } from "./endings.ts";
import { judgeCall } from "./judge.ts";
import type { CallExit, HookView, JudgedAgain, JudgedCall, PermittedCall } from "./judged-call.ts";
import { notifyVerdict } from "./notify.ts";
import { hookCall, hookSession, withInput } from "./rewrite.ts";

/** True for an allowed call that never waited and that nothing has stopped. */
export function passesUnasked({ broken }: BatchRun, run: CallRun, { decision }: JudgedCall): boolean {
  return decision.verdict === "allow" && !run.resumed && !run.hookAsked && !run.stopped && broken.error === undefined;
}

/** The permission step: a permitted call, an exit, or a request to judge again because a hook rewrote it. */
export async function permitCall(batch: BatchRun, run: CallRun, judged: JudgedCall): Promise<PermittedCall | CallExit | JudgedAgain> {
  if (batch.broken.error !== undefined) throw batch.broken.error;
  if (run.stopped) return await stopBeforeClaim(batch, run, judged);
  const permission = await findPermission(batch, run, judged);
  if ("go" in permission) return { ...(permission.judged ?? judged), consent: permission.go };
  if ("end" in permission && permission.end.type === "denied_by_hook") emitHookBlocked(batch, run, permission.end);
  if ("end" in permission && permission.end.state === "cancelled") notifyVerdict(batch, run, { judged, source: CANCELED });
  return permission;
}

function emitHookBlocked(batch: BatchRun, run: CallRun, { result }: Ending): void {
  batch.emit?.({
    type: "hookBlocked",
    callId: run.callId,
    agentName: batch.batch.agentName,
    tool: toolName(run),
    message: result.error?.message ?? "",
  });
}

/** `go`: the consent to run with, or null if none is needed. `judged`: the newest judgement, if there is a new one. */
type Permission = { readonly go: Consent | null; readonly judged?: JudgedCall } | CallExit | JudgedAgain;

/**
 * Turns a verdict into permission. In order:
 * 1. a deny ends the call, and takes back an approval that was given before;
 * 2. an approval on disk that still covers the request holds;
 * 3. an allow needs no answer, unless the call already waits;
 * 4. an ask: exactly this was rejected before → grants → permission hooks → a call that is certain to fail ends → a person, or `onAsk` if no one can
 *    be asked.
 */
async function findPermission(batch: BatchRun, run: CallRun, judged: JudgedCall): Promise<Permission> {
  const { verdict } = judged.decision;
  if (verdict === "deny") return await deny(batch, run, judged);
  const call = await judgedOnRecord(batch, run);
  if (call.state === "approved") {
    const changed = await changedSinceConsent(batch, run, judged, call.consent);
    if (changed) return changed;
    if (holds(run, call, judged)) return { go: call.consent };
  }
  if (call.state === "judged" && verdict === "allow") return { go: null };
  if (call.state === "judged") {
    const answered = await answerWithoutPerson(batch, run, judged);
    if (answered) return answered;
    const failure = findCertainFailure(batch, run, judged);
    const failed = failure && (await failure); // without a check nothing is awaited, so approvals open in the order of their calls
    if (failed) return failed;
  }
  return await askPerson(batch, run, judged);
}

/**
 * Finds out whether a call is certain to fail, so that no person is asked about it. An earlier call of the batch that may still succeed
 * could change that: then this call is not checked, and only waits for the checks of earlier calls.
 */
function findCertainFailure({ runs, deps }: BatchRun, run: CallRun, judged: JudgedCall): Promise<CallExit | undefined> | undefined {
  const earlier = runs.filter(({ index, phase }) => index < run.index && phase !== "after");
  const checks = earlier.flatMap(({ failureCheck }) => failureCheck ?? []);
  if (checks.length < earlier.length) return checks.length === 0 ? undefined : Promise.all(checks).then(() => undefined);
  const isOwn = judged.asking !== undefined && !judged.stages; // the runtime asks in its own words, and has checked
  const check = (): Promise<ToolResult | undefined> | undefined =>
    isOwn ? undefined : (judged.invocation.failure?.() ?? findRefusal(deps, judged));
  run.failureCheck =
    checks.length === 0 ? check() : Promise.all(checks).then((results) => (results.every((result) => result?.error) ? check() : undefined));
  return run.failureCheck?.then((result) =>
    result?.error ? { end: { state: "failed", type: result.error.type ?? "unknown", result } } : undefined,
  );
}

/** Undefined: the handler checks nothing beforehand. */
function findRefusal(
  { handlers, session }: BatchRun["deps"],
  { tool, invocation }: JudgedCall,
): Promise<ToolResult | undefined> | undefined {
  const refuse = handlers?.[tool.definition.runtimeHandler ?? ""]?.refuse;
  if (!refuse) return undefined;
  try {
    refuse(session, invocation.input);
    return Promise.resolve(undefined);
  } catch (error) {
    return Promise.resolve(isToolError(error) ? thrownResult(error) : undefined); // another error proves nothing
  }
}

/** The recorded call, once its judgement is committed. Throws if that failed. */
async function judgedOnRecord(
  { deps }: BatchRun,
  run: CallRun,
): Promise<Extract<Call, { readonly state: "judged" | "waiting" | "approved" }>> {
  await run.written;
  const call = deps.session.state.calls.get(run.callId);
  if (hasJudgement(call) && !mayBeUnderWay(call)) return call;
  throw new Error(`call ${run.callId} is ${call?.state ?? "not recorded"} where it should be judged`);
}

/** A consent holds for the fingerprint it covers; only a person answers an explicit ask. */
function holds(run: CallRun, call: Extract<Call, { readonly state: "approved" }>, { request, decision }: JudgedCall): boolean {
  if (call.consent.pos === run.voided) return false;
  if (call.consent.edited && run.editJudged !== call.consent.pos) return true; // judged as edited before the claim
  if (call.consent.covers !== request.fingerprint) return false;
  return !(decision.explicitAsk && (call.consent.by === "grant" || call.consent.by === "hook"));
}

async function deny(batch: BatchRun, run: CallRun, judged: JudgedCall): Promise<Permission> {
  await run.written; // announce no verdict that is not recorded
  const call = batch.deps.session.state.calls.get(run.callId);
  const waited = isAsked(call);
  if (waited) await closeApproval(batch, run, "denied");
  notifyVerdict(batch, run, { judged, source: decidedSource(judged.decision) });
  return { end: denialEnding(judged, waited && run.editJudged === undefined) };
}

async function answerWithoutPerson(batch: BatchRun, run: CallRun, judged: JudgedCall): Promise<Permission | undefined> {
  const { deps } = batch;
  const fingerprint = judged.request.fingerprint ?? "";
  if (deps.session.state.rejected.has(fingerprint) && !batch.forgiven.has(fingerprint)) {
    notifyVerdict(batch, run, { judged, source: answerSource({ outcome: "reject" }) });
    return { end: errorEnding("rejected", "rejected_by_user", `${modelText.rejected_by_user()}${modelTextSuffix.alreadyRejected}`) };
  }
  const grant = judged.decision.explicitAsk ? undefined : await findGrants(batch, judged);
  if (grant) {
    const consent = await applyGrant(batch, run, { judged, grant });
    if (consent) return { go: consent };
  }
  return deps.hooks ? await consultHooks(batch, run, judged) : undefined;
}

async function consultHooks(batch: BatchRun, run: CallRun, judged: JudgedCall): Promise<Permission | undefined> {
  if (run.hookAsked) return undefined;
  run.hookAsked = true;
  const said = await opinionOf(batch, run, judged);
  if (run.stopped) return { again: judged };
  if (said?.verdict === "deny") {
    if (said.interrupt) skipRest(batch, "interrupted");
    notifyVerdict(batch, run, { judged, source: permissionHookSource("deny") });
    return { end: errorEnding("rejected", "rejected_by_hook", modelText.rejected_by_hook(said.reason)) };
  }
  return said?.verdict === "allow" ? await allowedByHook(batch, run, judged, said) : undefined;
}

/** A hook that fails has no opinion: a person decides. */
async function opinionOf(batch: BatchRun, run: CallRun, judged: JudgedCall): Promise<HookOpinion | undefined> {
  const { hooks, warn } = batch.deps;
  const event = "permission_request";
  const about = {
    ...toolHookInput(hookSession(batch, run), hookCall(run, event)),
    permission_suggestions: offeredRules(batch, judged),
    decision_reason: judged.decision.reason,
    decision_source: judged.decision.source,
  };
  try {
    return await hooks?.consult(event, about, run.abort.signal);
  } catch (error) {
    warn?.(`a ${event} hook failed: ${messageOf(error)}`);
    return undefined;
  }
}

/** A hook's allow answers only the default ask. If it rewrote the input, that is judged first. */
async function allowedByHook(batch: BatchRun, run: CallRun, judged: JudgedCall, said: HookOpinion): Promise<Permission | undefined> {
  const { session } = batch.deps;
  const hook = insisting(judged.hook) ?? { verdict: undefined, name: said.name, reason: undefined };
  const rewritten = await withInput(batch, run, { ...judged, hook }, said);
  const isSame = rewritten.invocation === judged.invocation && rewritten.hook?.verdict === undefined;
  const now = isSame ? judged : await judgeCall(batch, run, rewritten);
  await run.written;
  const { request, decision } = now;
  if (decision.verdict !== "ask" || decision.explicitAsk || request.fingerprint === undefined) return isSame ? undefined : { again: now };
  const { source } = permissionHookSource("allow");
  await session.record(
    [session.draft("call.answered", { call: run.callId, fingerprint: request.fingerprint, by: { kind: "hook", id: said.name }, source })],
    "normal",
  );
  return { again: now };
}

/** After a rewrite, an earlier deny or ask still applies; an allow does not. */
function insisting(hook: HookView | undefined): HookView | undefined {
  return hook?.verdict === "ask" || hook?.verdict === "deny" ? hook : undefined;
}
