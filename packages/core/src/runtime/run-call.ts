import { andThen } from "../and-then.ts";
import type { ClaimLost } from "../ledger-port.ts";
import { LedgerError } from "../ledger-port.ts";
import type { Yes } from "../model/call.ts";
import { modelText } from "../model/model-text.ts";
import { CANCELED, decidedSource, RUN_STOPPED } from "../model/notification-source.ts";
import { messageOf } from "../model/thrown.ts";
import type { Maybe } from "../tool-definition.ts";
import { isAsk } from "./assess-call.ts";
import { type BatchRun, type CallRun, committed, type Step, stopCall } from "./call-run.ts";
import { closeApproval } from "./close-approval.ts";
import type { CallReport, Ending } from "./dispatch.ts";
import { type Nested, runBody } from "./effect.ts";
import { endCall } from "./end-call.ts";
import { stopped, synthesised } from "./endings.ts";
import { nest } from "./gate.ts";
import { byPattern } from "./grants.ts";
import { callContext, intake, type Taken } from "./intake.ts";
import { callKey, judge, type Ready, rejudge } from "./judge.ts";
import { notify, notifyUnjudged } from "./notify.ts";
import { changedOperand, isBound } from "./operands.ts";
import { needsNobody, permit } from "./permission.ts";
import { type Asked, askAgain, askQuestions, isAsking } from "./questioning.ts";
import { describeUnresolved } from "./resolve-call.ts";
import { editOf, restore } from "./restore.ts";
import { rewrite } from "./rewrite.ts";
import { traced } from "./tracing.ts";

type Parked = { readonly parked: string | undefined };
type Claimed = { readonly ready: Ready; readonly yes: Yes | null };

/** The one function that can run a tool. Every path ends in exactly one report; a throw anywhere fails closed, here. */
export async function runCall(batch: BatchRun, run: CallRun): Promise<CallReport> {
  try {
    const going = run.restore && isAsking(batch, run.callId) ? askAgain(batch, run) : go(batch, run, await prepare(batch, run));
    const done = going instanceof Promise ? await going : going;
    const reported = "parked" in done ? park(batch, run, done) : endCall(batch, run, done);
    return reported instanceof Promise ? await reported : reported;
  } catch (error) {
    return await failClosed(batch, run, error);
  } finally {
    batch.lanes.leave(run.index);
  }
}

/** Judged, then claimed: between the two every other call of the batch is judged, too. Whatever changed on the way is judged again first. */
function go(batch: BatchRun, run: CallRun, prepared: Step<Ready>): Maybe<Asked> {
  return "end" in prepared ? unclaimed(batch, run, prepared.end) : attempt(batch, run, prepared.go);
}

function attempt(batch: BatchRun, run: CallRun, ready: Ready): Maybe<Asked> {
  if (run.index >= 0) batch.lanes.classify(run.index, ready.safe);
  return andThen(tryClaim(batch, run, ready), (tried) => {
    if ("parked" in tried) return tried;
    if ("end" in tried) return unclaimed(batch, run, tried.end);
    return "go" in tried ? act(batch, run, tried.go) : attempt(batch, run, tried.ready);
  });
}

function act(batch: BatchRun, run: CallRun, claimed: Claimed): Maybe<Asked> {
  if (isAsk(batch, claimed.ready.taken)) return askQuestions(batch, run, claimed.ready);
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
  return andThen(taken, (found) => ("end" in found ? found : rewriteAndJudge(batch, run, found.go)));
}

function rewriteAndJudge(batch: BatchRun, run: CallRun, taken: Taken): Maybe<Step<Ready>> {
  const rewritten = run.resumed ? { taken, hook: undefined } : rewrite(batch, run, taken);
  return andThen(rewritten, (left) => (run.stopped && !run.resumed ? stopUnjudged(batch, run) : andThen(judge(batch, run, left), goOn)));
}

function goOn(ready: Ready): Step<Ready> {
  return { go: ready };
}

async function stopUnjudged(batch: BatchRun, run: CallRun): Promise<{ readonly end: Ending }> {
  await committed(run);
  notifyUnjudged(batch, run, run.stopped === "skipped" ? RUN_STOPPED : CANCELED);
  return { end: stopped(run) };
}

function blockedByHook(batch: BatchRun, run: CallRun, end: Ending): Step<Claimed> {
  batch.emit?.({
    type: "hookBlocked",
    callId: run.callId,
    agentName: batch.batch.agentName,
    tool: run.tool?.name ?? run.name,
    message: textOf(end),
  });
  return { end };
}

function textOf({ result }: Ending): string {
  return result.error?.message ?? "";
}

type Attempt = Step<Claimed> | Parked | { readonly ready: Ready };

function tryClaim(batch: BatchRun, run: CallRun, ready: Ready): Maybe<Attempt> {
  if (batch.broken.error !== undefined) throw batch.broken.error;
  if (run.stopped) return stop(batch, run, ready);
  return needsNobody(run, ready) ? enterLane(batch, run, { ready, yes: null }) : claimIfPermitted(batch, run, ready);
}

async function claimIfPermitted(batch: BatchRun, run: CallRun, ready: Ready): Promise<Attempt> {
  const permitted = await permit(batch, run, ready);
  if ("parked" in permitted || "ready" in permitted) return permitted;
  if ("end" in permitted) return reportBlock(batch, run, { ready, end: permitted.end });
  return await enterLane(batch, run, { ready: "judged" in permitted ? permitted.judged : ready, yes: permitted.go });
}

function reportBlock(batch: BatchRun, run: CallRun, { ready, end }: { readonly ready: Ready; readonly end: Ending }): Step<Claimed> {
  if (end.type === "denied_by_hook") return blockedByHook(batch, run, end);
  if (end.state === "cancelled") notify(batch, run, { ready, source: CANCELED });
  return { end };
}

async function stop(batch: BatchRun, run: CallRun, ready: Ready): Promise<{ readonly end: Ending }> {
  await committed(run);
  await closeApproval(batch, run, "cancelled");
  notify(batch, run, { ready, source: run.stopped === "skipped" ? RUN_STOPPED : CANCELED });
  return { end: stopped(run) };
}

/** An edit is judged as edited; then the lane; what changed while waiting is judged again; then the intent goes to the ledger. */
function enterLane(batch: BatchRun, run: CallRun, claimed: Claimed): Maybe<Attempt> {
  const { ready, yes } = claimed;
  if (yes?.edited && run.editJudged !== yes.pos) return judgeEdit(batch, run, { ready, yes });
  const may = run.index < 0 || batch.lanes.enter(run.index);
  return may === true
    ? inLane(batch, run, claimed)
    : may.then((entered) => (entered ? inLane(batch, run, claimed) : { parked: undefined }));
}

function inLane(batch: BatchRun, run: CallRun, claimed: Claimed): Maybe<Attempt> {
  const { ready, yes } = claimed;
  if (batch.broken.error !== undefined) throw batch.broken.error; // the call before it may have left its lane without an end
  if (run.stopped) return stop(batch, run, ready);
  if (isStale(batch, ready)) return judgeAgain(batch, run, ready);
  return isBound(ready) || yes?.by === "grant" ? claimIfUnchanged(batch, run, claimed) : claim(batch, run, claimed);
}

async function claimIfUnchanged(batch: BatchRun, run: CallRun, { ready, yes }: Claimed): Promise<Attempt> {
  const changed = isBound(ready) ? await changedOperand(batch, run, { ready, yes }) : undefined;
  if (changed) return changed;
  if (yes?.by === "grant" && !(await stillGranted(batch, run, yes))) return { ready };
  return await claim(batch, run, { ready, yes });
}

async function judgeAgain(batch: BatchRun, run: CallRun, ready: Ready): Promise<Attempt> {
  return { ready: await rejudge(batch, run, ready) };
}

/** The policy changed, or an unsafe call of the batch ran since the facts were gathered. */
function isStale(batch: BatchRun, ready: Ready): boolean {
  if (batch.policy().revision !== ready.policy.revision) return true;
  return batch.lanes.unsafeRuns() > ready.unsafeRuns;
}

async function judgeEdit(batch: BatchRun, run: CallRun, { ready, yes }: { readonly ready: Ready; readonly yes: Yes }): Promise<Attempt> {
  const edit = await editOf(batch, run, ready);
  if ("end" in edit) return edit;
  run.editJudged = yes.pos;
  const edited = await judge(batch, run, { taken: edit.go, hook: undefined, editedBy: yes.id });
  await run.written;
  return { ready: edited };
}

function claim(batch: BatchRun, run: CallRun, claimed: Claimed): Maybe<Attempt> {
  const { session } = batch.deps;
  const { ready, yes } = claimed;
  if (!mayClaim(batch, run)) return stop(batch, run, ready);
  const { request, safe } = ready;
  const durability = safe ? "normal" : "full";
  const key = idempotencyKey(batch, run, ready);
  const answer = yes ? { pos: yes.pos } : null;
  const body = { call: run.callId, answer, attempt: 1, durability, idempotencyKey: key, plan: null } as const;
  const { fingerprint } = request;
  const claiming = session.claim(session.draft("call.claimed", fingerprint === undefined ? body : { ...body, fingerprint }));
  return andThen(claiming, (told) => {
    if ("lost" in told) return claimLost(batch, run, { ready, yes, lost: told.lost });
    run.key = key;
    notify(batch, run, { ready, source: yes ? { decision: "allow", source: yes.source } : decidedSource(ready.decision) });
    return { go: claimed };
  });
}

/** A limit that is reached ends this call and the rest of its batch; a call that it let pass once is not counted twice. */
function mayClaim(batch: BatchRun, run: CallRun): boolean {
  const limit = run.counted ? undefined : batch.deps.mayClaim?.();
  if (limit === undefined) {
    run.counted = true;
    return true;
  }
  stopCall(run, "skipped", limit); // a nested call is in no batch
  batch.skipRest("limit", limit);
  return false;
}

function idempotencyKey(batch: BatchRun, run: CallRun, { taken, request }: Ready): string | null {
  const make = taken.tool.definition.idempotencyKey;
  if (!make) return null;
  const key: unknown = make(taken.invocation.input, { ...callContext(batch, run), callKey: callKey(batch, run, request.fingerprint) });
  return typeof key === "string" && key.trim() !== "" ? key : null; // what is no key protects nothing
}

/** A policy or grant that changed in this very moment is judged again; anything else means that this is not the request that was decided. */
async function claimLost(batch: BatchRun, run: CallRun, { ready, yes, lost }: Claimed & { readonly lost: ClaimLost }): Promise<Attempt> {
  await run.written; // a judgement that could not be stored is why it is not claimable: that failure counts
  if (lost === "policy_changed") return { ready: await rejudge(batch, run, ready) };
  if (lost === "grant_revoked" || lost === "answer_void") {
    run.voided = yes?.pos;
    return { ready };
  }
  return { end: synthesised("denied", "fingerprint_mismatch", modelText.fingerprint_mismatch({ name: ready.request.tool })) };
}

/** Several grants may have said yes together; none of them may be revoked by now. */
async function stillGranted({ deps }: BatchRun, run: CallRun, yes: Yes): Promise<boolean> {
  if (yes.also.length === 0) return true; // a single one is checked by the claim itself
  const rows = await deps.session.ledger.pending("grants", { all: true, limit: 1_000 });
  const stand = yes.also.every((id) => rows.some((row) => row.id === id && row.state !== "revoked" && row.state !== "expired"));
  if (!stand) run.voided = yes.pos;
  return stand;
}

function effect(batch: BatchRun, run: CallRun, { ready, yes }: Claimed): Maybe<Ending> {
  return andThen(yes ? byPattern(batch, yes) : ready.decision.byRules, (unseen) => {
    if (run.stopped) return stopped(run); // a cancel that came while the claim was stored
    return runBody(batch, run, { ready, attempt: 1, key: run.key, nested, unseen, yes });
  });
}

const nested: Nested = (batch, parent, call) => nest(batch, parent, { call, runCall });

function park(batch: BatchRun, run: CallRun, { parked }: Parked): CallReport {
  batch.lanes.park(run.index);
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
  return error instanceof LedgerError && ["stale_writer", "store_io", "store_readonly", "store_corrupt"].includes(error.type);
}

function faultEnd({ deps }: BatchRun, run: CallRun, error: unknown): Ending {
  const name = run.tool?.name ?? run.name;
  const claimed = deps.session.state.calls.get(run.callId)?.state === "claimed";
  if (claimed && error instanceof LedgerError) return synthesised("unknown", "execution_unknown", modelText.execution_unknown({ name }));
  if (error instanceof LedgerError) return synthesised("denied", "store_unavailable", modelText.store_unavailable({ name }));
  const text = `Tool '${name}' was not completed: ${messageOf(error)}`;
  return synthesised(claimed ? "failed" : "denied", "unhandled_exception", text);
}
