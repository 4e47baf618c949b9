import { LedgerError } from "../../ledger-port.ts";
import { mayBeUnderWay, type Yes } from "../../model/call.ts";
import { CANCELED, RUN_STOPPED } from "../../model/notification-source.ts";
import { messageOf } from "../../model/result/thrown.ts";
import { modelText } from "../../model/text/model-text.ts";
import type { Maybe } from "../../tool-definition.ts";
import { closeApproval } from "../approval/close.ts";
import { byPattern } from "../approval/grants.ts";
import type { CallReport, Ending } from "../dispatch.ts";
import { describeUnresolved } from "../proposal/resolve-call.ts";
import { type Asked, askAgain, askQuestions, isAsking } from "../question/ask.ts";
import { isAsk } from "./assess-call.ts";
import { type BatchRun, type CallRun, committed, releaseSession, type Step } from "./call-run.ts";
import { type Attempt, type Claimed, type Parked, tryClaim } from "./claim.ts";
import { type Nested, runBody } from "./effect.ts";
import { stopped, synthesised } from "./endings.ts";
import { endCall } from "./finish.ts";
import { nest } from "./gate.ts";
import { intake, type Taken } from "./intake.ts";
import { judge, type Ready } from "./judge.ts";
import { classifyLane, leaveLane, parkLane } from "./lanes.ts";
import { notifyUnjudged } from "./notify.ts";
import { restore } from "./restore.ts";
import { type Rewritten, rewrite } from "./rewrite.ts";
import { traced } from "./tracing.ts";

/** The one function that can run a tool. Every path ends in exactly one report; a throw anywhere fails closed, here. */
async function runCall(batch: BatchRun, run: CallRun): Promise<CallReport> {
  return finishCall(batch, run, await beginCall(batch, run));
}

/** How far a call is before its claim: judged, at its end, failed, or, after a restart, still asking its question. */
export type Begun = Step<Ready> | { readonly thrown: unknown } | "asking";

/** Up to its judgement: nothing has an effect yet. It never throws or rejects. */
export function beginCall(batch: BatchRun, run: CallRun): Maybe<Begun> {
  try {
    if (run.restore && isAsking(batch, run.callId)) return "asking";
    const prepared = prepare(batch, run);
    return prepared instanceof Promise ? prepared.catch(asThrown) : prepared;
  } catch (thrown) {
    return { thrown };
  }
}

function asThrown(thrown: unknown): { readonly thrown: unknown } {
  return { thrown };
}

/** From its judgement to its report. It never throws or rejects. */
export function finishCall(batch: BatchRun, run: CallRun, begun: Begun): Maybe<CallReport> {
  try {
    const going = go(batch, run, begun);
    const reported = going instanceof Promise ? reportLater(batch, run, going) : report(batch, run, going);
    if (reported instanceof Promise) return leaveLater(batch, run, reported);
    leave(batch, run);
    return reported;
  } catch (error) {
    return leaveLater(batch, run, Promise.reject(error));
  }
}

function leave(batch: BatchRun, run: CallRun): void {
  releaseSession(run);
  if (leaveLane(batch.lanes, run.index)) lookAgain(batch);
}

/** An unsafe call ran: whoever waits looks again at what it found. */
function lookAgain({ runs }: BatchRun): void {
  for (const run of runs) if (run.phase === "before") run.wake?.();
}

async function leaveLater(batch: BatchRun, run: CallRun, reported: Promise<CallReport>): Promise<CallReport> {
  try {
    return await reported;
  } catch (error) {
    return await failClosed(batch, run, error);
  } finally {
    leave(batch, run);
  }
}

async function reportLater(batch: BatchRun, run: CallRun, going: Promise<Asked>): Promise<CallReport> {
  return report(batch, run, await going);
}

function report(batch: BatchRun, run: CallRun, done: Asked): Maybe<CallReport> {
  return "parked" in done ? park(batch, run, done) : endCall(batch, run, done);
}

/** Judged, then claimed: between the two every other call of the batch is judged, too. Whatever changed on the way is judged again first. */
function go(batch: BatchRun, run: CallRun, begun: Begun): Maybe<Asked> {
  if (typeof begun === "string") return askAgain(batch, run);
  if ("thrown" in begun) throw begun.thrown;
  return "end" in begun ? unclaimed(batch, run, begun.end) : attempt(batch, run, begun);
}

function attempt(batch: BatchRun, run: CallRun, ready: Ready): Maybe<Asked> {
  if (run.index >= 0) classifyLane(batch.lanes, run.index, ready.safe);
  const tried = tryClaim(batch, run, ready);
  return tried instanceof Promise ? attemptedLater(batch, run, tried) : attempted(batch, run, tried);
}

async function attemptedLater(batch: BatchRun, run: CallRun, tried: Promise<Attempt>): Promise<Asked> {
  return attempted(batch, run, await tried);
}

function attempted(batch: BatchRun, run: CallRun, tried: Attempt): Maybe<Asked> {
  if ("parked" in tried) return tried;
  if ("end" in tried) return unclaimed(batch, run, tried.end);
  return "yes" in tried ? act(batch, run, tried) : attempt(batch, run, tried.ready);
}

function act(batch: BatchRun, run: CallRun, claimed: Claimed): Maybe<Asked> {
  if (isAsk(batch, claimed.ready.taken)) return askQuestions(batch, run, claimed.ready);
  return batch.deps.tracer ? actInSpan(batch, run, claimed) : effect(batch, run, claimed);
}

function actInSpan(batch: BatchRun, run: CallRun, claimed: Claimed): Maybe<Asked> {
  return traced(batch, run, { ...claimed, body: () => effect(batch, run, claimed) });
}

/** What a call was about is told also where it never ran. */
function unclaimed(batch: BatchRun, run: CallRun, end: Ending): Maybe<Ending> {
  return run.target ? describeUnresolved(batch, run, end) : end;
}

/** find tool → parse and validate → rewrite → freeze → judge. */
function prepare(batch: BatchRun, run: CallRun): Maybe<Step<Ready>> {
  if (run.duplicateOf !== undefined)
    return { end: synthesised("invalid", "duplicate_call_id", modelText.duplicate_call_id(run.duplicateOf)) };
  const taken = run.restore ? restore(batch, run) : intake(batch, run);
  return taken instanceof Promise ? rewriteLater(batch, run, taken) : rewriteAndJudge(batch, run, taken);
}

async function rewriteLater(batch: BatchRun, run: CallRun, taken: Promise<Step<Taken>>): Promise<Step<Ready>> {
  return rewriteAndJudge(batch, run, await taken);
}

function rewriteAndJudge(batch: BatchRun, run: CallRun, taken: Step<Taken>): Maybe<Step<Ready>> {
  if ("end" in taken) return taken;
  const rewritten = run.resumed ? { taken, hook: undefined } : rewrite(batch, run, taken);
  return rewritten instanceof Promise ? judgeLater(batch, run, rewritten) : judgeRewritten(batch, run, rewritten);
}

async function judgeLater(batch: BatchRun, run: CallRun, rewritten: Promise<Rewritten>): Promise<Step<Ready>> {
  return judgeRewritten(batch, run, await rewritten);
}

function judgeRewritten(batch: BatchRun, run: CallRun, rewritten: Rewritten): Maybe<Step<Ready>> {
  return run.stopped && !run.resumed ? stopUnjudged(batch, run) : judge(batch, run, rewritten);
}

async function stopUnjudged(batch: BatchRun, run: CallRun): Promise<{ readonly end: Ending }> {
  await committed(run);
  notifyUnjudged(batch, run, run.stopped === "skipped" ? RUN_STOPPED : CANCELED);
  return { end: stopped(run) };
}

function effect(batch: BatchRun, run: CallRun, { ready, yes }: Claimed): Maybe<Ending> {
  return yes ? effectOfYes(batch, run, { ready, yes }) : startEffect(batch, run, { ready, yes, unseen: ready.decision.byRules });
}

async function effectOfYes(batch: BatchRun, run: CallRun, { ready, yes }: { readonly ready: Ready; readonly yes: Yes }): Promise<Ending> {
  const unseen = await byPattern(batch, yes);
  run.claimedAt = 0;
  return startEffect(batch, run, { ready, yes, unseen });
}

function startEffect(batch: BatchRun, run: CallRun, { ready, yes, unseen }: Claimed & { readonly unseen: boolean }): Maybe<Ending> {
  if (run.stopped) return stopped(run); // a cancel that came while the claim was stored
  return runBody(batch, run, { ready, attempt: 1, key: run.key, nested, unseen, yes });
}

const nested: Nested = (batch, parent, call) => nest(batch, parent, { call, runCall });

function park(batch: BatchRun, run: CallRun, { parked }: Parked): CallReport {
  if (parkLane(batch.lanes, run.index)) lookAgain(batch);
  return { callId: run.callId, outcome: "waiting", type: "waiting", ...(parked !== undefined && { approvalId: parked }) };
}

/** Law 4. Before the effect a fault or a failing store denies; after it nobody knows. If not even the end can be recorded, nothing more runs. */
async function failClosed(batch: BatchRun, run: CallRun, error: unknown): Promise<CallReport> {
  const { deps } = batch;
  deps.warn?.(messageOf(error));
  run.abort.abort(error);
  const end = faultEnd(batch, run, error);
  try {
    if (!(error instanceof LedgerError)) await closeApproval(batch, run, "cancelled"); // a store that fails, or a new writer, keeps what waits
    return await endCall(batch, run, end);
  } catch (failure) {
    const neverProposed = !deps.session.state.calls.has(run.callId); // leaves nothing open
    if (!neverProposed || isFinal(failure) || isFinal(error)) batch.broken.error ??= failure;
    return { callId: run.callId, outcome: end.state, type: end.type, result: end.result };
  }
}

/** Failures after which this writer can never record again. */
function isFinal(error: unknown): boolean {
  return error instanceof LedgerError && ["stale_writer", "store_io", "store_readonly", "store_corrupt", "store_lost"].includes(error.type);
}

function faultEnd({ deps }: BatchRun, run: CallRun, error: unknown): Ending {
  const name = run.tool?.name ?? run.name;
  const claimed = mayBeUnderWay(deps.session.state.calls.get(run.callId));
  if (claimed && error instanceof LedgerError) return synthesised("unknown", "execution_unknown", modelText.execution_unknown({ name }));
  if (error instanceof LedgerError) return synthesised("denied", "store_unavailable", modelText.store_unavailable({ name }));
  const text = `Tool '${name}' was not completed: ${messageOf(error)}`;
  return synthesised(claimed ? "failed" : "denied", "unhandled_exception", text);
}
