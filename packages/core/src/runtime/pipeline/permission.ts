import { type Call, hasJudgement, isAsked, mayBeUnderWay, type Yes } from "../../model/call.ts";
import { toolHookInput } from "../../model/hooks/input.ts";
import { answerSource, decidedSource, permissionHookSource } from "../../model/notification-source.ts";
import { messageOf } from "../../model/result/thrown.ts";
import { modelText, modelTextSuffix } from "../../model/text/model-text.ts";
import type { HookOpinion } from "../../ports.ts";
import { type Asked, askPerson } from "../approval/ask.ts";
import { closeApproval } from "../approval/close.ts";
import { offeredRules } from "../approval/confirm.ts";
import { applyGrant, grantAnswer } from "../approval/grants.ts";
import { type BatchRun, type CallRun, type Step, skipRest } from "./call-run.ts";
import { denial, synthesised } from "./endings.ts";
import { judge, type Ready } from "./judge.ts";
import { notify } from "./notify.ts";
import { changedSinceYes } from "./operands.ts";
import { type HookView, hookSession, withInput } from "./rewrite.ts";

/** May the call run? A yes (null: nobody had to be asked), an end, an approval that waits beyond this process, or a rewritten request to look at again. */
export type Permitted = Step<{ readonly go: Yes | null }> | Asked | { readonly ready: Ready };

/**
 * Turns a verdict into permission. In order:
 * 1. a deny ends the call, and takes back a yes that was given before;
 * 2. a yes on disk that still covers the request holds;
 * 3. an allow needs nobody, unless the call already waits;
 * 4. an ask: told no to exactly this before → grants → permission hooks → a person, or `onAsk` where nobody can be asked.
 */
export async function permit(batch: BatchRun, run: CallRun, ready: Ready): Promise<Permitted> {
  const { decision } = ready;
  if (decision.verdict === "deny") return deny(batch, run, ready);
  if (needsNobody(run, ready)) return { go: null };
  const call = await liveCall(batch, run);
  const changed = call.state === "approved" ? await changedSinceYes(batch, run, { ready, yes: call.yes }) : undefined;
  if (changed) return changed;
  if (call.state === "approved" && holds(run, call, ready)) return { go: call.yes };
  if (call.state === "judged" && decision.verdict === "allow") return { go: null };
  if (call.state === "judged") {
    const answered = await answerWithoutPerson(batch, run, ready);
    if (answered) return answered;
  }
  return await askPerson(batch, run, ready);
}

/** An allow, of a call that was never asked about. */
export function needsNobody(run: CallRun, { decision }: Ready): boolean {
  return decision.verdict === "allow" && !run.resumed && !run.hookAsked;
}

/** The call as the ledger has it, once its judgement is committed; a judgement that could not be stored throws here. */
async function liveCall({ deps }: BatchRun, run: CallRun): Promise<Extract<Call, { readonly state: "judged" | "waiting" | "approved" }>> {
  if (run.written !== undefined) await run.written;
  const call = deps.session.state.calls.get(run.callId);
  if (hasJudgement(call) && !mayBeUnderWay(call)) return call;
  throw new Error(`call ${run.callId} is ${call?.state ?? "not recorded"} where it should be judged`);
}

/** A yes holds for the fingerprint it covers; an insisting ask is a person's to answer. */
function holds(run: CallRun, call: Extract<Call, { readonly state: "approved" }>, { request, decision }: Ready): boolean {
  if (call.yes.pos === run.voided) return false;
  if (call.yes.edited && run.editJudged !== call.yes.pos) return true; // judged as edited before the claim
  if (call.yes.covers !== request.fingerprint) return false;
  return !(decision.explicitAsk && (call.yes.by === "grant" || call.yes.by === "hook"));
}

async function deny(batch: BatchRun, run: CallRun, ready: Ready): Promise<Permitted> {
  await run.written; // nobody is told of a verdict that is not on record
  const call = batch.deps.session.state.calls.get(run.callId);
  const waited = isAsked(call);
  if (waited) await closeApproval(batch, run, "denied");
  notify(batch, run, { ready, source: decidedSource(ready.decision) });
  return { end: denial(ready, waited && run.editJudged === undefined) };
}

async function answerWithoutPerson(batch: BatchRun, run: CallRun, ready: Ready): Promise<Permitted | undefined> {
  const { deps } = batch;
  const fingerprint = ready.request.fingerprint ?? "";
  if (deps.session.state.rejected.has(fingerprint) && !batch.forgiven.has(fingerprint)) {
    notify(batch, run, { ready, source: answerSource({ outcome: "reject" }) });
    return { end: synthesised("rejected", "rejected_by_user", `${modelText.rejected_by_user()}${modelTextSuffix.alreadyRejected}`) };
  }
  const grant = ready.decision.explicitAsk ? undefined : await grantAnswer(batch, ready);
  if (grant) {
    const yes = await applyGrant(batch, run, { ready, grant });
    if (yes) return { go: yes };
  }
  return deps.hooks ? await consultHooks(batch, run, ready) : undefined;
}

async function consultHooks(batch: BatchRun, run: CallRun, ready: Ready): Promise<Permitted | undefined> {
  if (run.hookAsked) return undefined;
  run.hookAsked = true;
  const said = await opinionOf(batch, run, ready);
  if (run.stopped) return { ready };
  if (said?.verdict === "deny") {
    if (said.interrupt) skipRest(batch, "interrupted");
    notify(batch, run, { ready, source: permissionHookSource("deny") });
    return { end: synthesised("rejected", "rejected_by_hook", modelText.rejected_by_hook(said.reason)) };
  }
  return said?.verdict === "allow" ? await allowedByHook(batch, run, { ready, said }) : undefined;
}

/** A hook that fails has no opinion: a person decides. */
async function opinionOf(batch: BatchRun, run: CallRun, ready: Ready): Promise<HookOpinion | undefined> {
  const { hooks, warn } = batch.deps;
  const { tool, kind, input } = ready.request;
  const about = {
    ...toolHookInput(hookSession(batch, run), { event: "permission_request", tool, kind, callId: run.callId, input }),
    permission_suggestions: offeredRules(batch, ready),
    decision_reason: ready.decision.reason,
    decision_source: ready.decision.source,
  };
  try {
    return await hooks?.consult("permission_request", about, run.abort.signal);
  } catch (error) {
    warn?.(`a permission_request hook failed: ${messageOf(error)}`);
    return undefined;
  }
}

/** Its yes lifts only the default ask; a rewritten input is judged again first, and the yes then holds for that. */
async function allowedByHook(
  batch: BatchRun,
  run: CallRun,
  { ready, said }: { readonly ready: Ready; readonly said: HookOpinion },
): Promise<Permitted | undefined> {
  const { session } = batch.deps;
  const rewritten = await withInput(batch, run, {
    taken: ready.taken,
    changed: said.updatedInput,
    by: said.rewrittenBy ?? said.name,
    hook: insisting(ready.hook) ?? { verdict: undefined, name: said.name, reason: undefined, context: undefined },
  });
  const same = rewritten.taken === ready.taken;
  const now =
    same && rewritten.hook?.verdict === undefined ? ready : await judge(batch, run, { taken: rewritten.taken, hook: rewritten.hook });
  await run.written;
  const { request, decision } = now;
  if (decision.verdict !== "ask" || decision.explicitAsk || request.fingerprint === undefined)
    return now === ready ? undefined : { ready: now };
  const source = permissionHookSource("allow").source;
  await session.record(
    [session.draft("call.answered", { call: run.callId, fingerprint: request.fingerprint, by: { kind: "hook", id: said.name }, source })],
    "normal",
  );
  return { ready: now };
}

/** Of an opinion on an input that was rewritten since, deny and ask stay, an allow is dropped. */
function insisting(hook: HookView | undefined): HookView | undefined {
  return hook?.verdict === "ask" || hook?.verdict === "deny" ? hook : undefined;
}
