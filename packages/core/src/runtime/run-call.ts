import type { ClaimLost } from "../ledger-port.ts";
import { LedgerError } from "../ledger-port.ts";
import type { Yes } from "../model/call.ts";
import { modelText } from "../model/model-text.ts";
import { CANCELED, decidedSource, RUN_STOPPED } from "../model/notification-source.ts";
import { messageOf } from "../model/thrown.ts";
import type { Maybe } from "../tool-definition.ts";
import { isAsk } from "./assess-call.ts";
import { type BatchRun, type CallRun, type Step, stopCall } from "./call-run.ts";
import { closeApproval } from "./close-approval.ts";
import type { CallReport, Ending } from "./dispatch.ts";
import { runBody } from "./effect.ts";
import { endCall } from "./end-call.ts";
import { stopped, synthesised } from "./endings.ts";
import { makeGate } from "./gate.ts";
import { byPattern } from "./grants.ts";
import { callContext, intake } from "./intake.ts";
import { callKey, judge, type Ready, rejudge } from "./judge.ts";
import { notify, notifyUnjudged } from "./notify.ts";
import { changedOperand, isBound } from "./operands.ts";
import { permit } from "./permission.ts";
import { type Asked, askAgain, askQuestions, isAsking } from "./questioning.ts";
import { describeUnresolved } from "./resolve-call.ts";
import { editOf, restore } from "./restore.ts";
import { type Rewritten, rewrite } from "./rewrite.ts";
import { traced } from "./tracing.ts";

type Parked = { readonly parked: string | undefined };
type Claimed = { readonly ready: Ready; readonly yes: Yes | null };

/** The one function that can run a tool. Every path ends in exactly one report; a throw anywhere fails closed, here. */
export async function runCall(batch: BatchRun, run: CallRun): Promise<CallReport> {
  try {
    const done = run.restore && isAsking(batch, run.callId) ? await askAgain(batch, run) : await go(batch, run);
    return "parked" in done ? park(batch, run, done) : await endCall(batch, run, done);
  } catch (error) {
    return await failClosed(batch, run, error);
  } finally {
    batch.lanes.leave(run.index);
  }
}

async function go(batch: BatchRun, run: CallRun): Promise<Asked> {
  const claimed = await prepare(batch, run);
  if ("parked" in claimed) return claimed;
  if ("end" in claimed) return await unclaimed(batch, run, claimed.end);
  if (isAsk(batch, claimed.go.ready.taken)) return await askQuestions(batch, run, claimed.go.ready);
  return await traced(batch, run, { ...claimed.go, body: () => effect(batch, run, claimed.go) });
}

/** What a call was about is told also where it never ran. */
function unclaimed(batch: BatchRun, run: CallRun, end: Ending): Maybe<Ending> {
  return run.target ? describeUnresolved(batch, run, end) : end;
}

/** find tool → parse and validate → rewrite → freeze → judge → ask → re-judge → lane → claim. */
async function prepare(batch: BatchRun, run: CallRun): Promise<Step<Claimed> | Parked> {
  if (run.duplicateOf !== undefined)
    return { end: synthesised("invalid", "duplicate_call_id", modelText.duplicate_call_id(run.duplicateOf)) };
  const taken = run.restore ? await restore(batch, run) : await intake(batch, run);
  if ("end" in taken) return taken;
  const rewritten = run.resumed ? { taken: taken.go, hook: undefined } : await rewrite(batch, run, taken.go);
  if (run.stopped && !run.resumed) {
    notifyUnjudged(batch, run, run.stopped === "skipped" ? RUN_STOPPED : CANCELED);
    return { end: stopped(run) };
  }
  return await settle(batch, run, rewritten);
}

function blockedByHook(batch: BatchRun, run: CallRun, end: Ending): Step<Claimed> {
  batch.emit({
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

/** Judges and asks until the call is claimed, ended or parked: whatever changed on the way is judged again first. */
async function settle(batch: BatchRun, run: CallRun, rewritten: Rewritten): Promise<Step<Claimed> | Parked> {
  const first = judge(batch, run, rewritten);
  let ready = first instanceof Promise ? await first : first;
  if (run.index >= 0) batch.lanes.classify(run.index, ready.safe);
  for (;;) {
    const attempt = await tryClaim(batch, run, ready);
    if ("go" in attempt || "end" in attempt || "parked" in attempt) return attempt;
    ready = attempt.ready;
    if (run.index >= 0) batch.lanes.classify(run.index, ready.safe);
  }
}

async function tryClaim(batch: BatchRun, run: CallRun, ready: Ready): Promise<Step<Claimed> | Parked | { readonly ready: Ready }> {
  if (batch.broken.error !== undefined) throw batch.broken.error;
  if (run.stopped) return await stop(batch, run, ready);
  const permitted = await permit(batch, run, ready);
  if ("parked" in permitted || "ready" in permitted) return permitted;
  if ("end" in permitted) return reportBlock(batch, run, { ready, end: permitted.end });
  const claimed = { ready: "judged" in permitted ? permitted.judged : ready, yes: permitted.go };
  const next = await beforeClaim(batch, run, claimed);
  return next === "claimed" ? { go: claimed } : next;
}

function reportBlock(batch: BatchRun, run: CallRun, { ready, end }: { readonly ready: Ready; readonly end: Ending }): Step<Claimed> {
  if (end.type === "denied_by_hook") return blockedByHook(batch, run, end);
  if (end.state === "cancelled") notify(batch, run, { ready, source: CANCELED });
  return { end };
}

async function stop(batch: BatchRun, run: CallRun, ready: Ready): Promise<{ readonly end: Ending }> {
  await closeApproval(batch, run, "cancelled");
  notify(batch, run, { ready, source: run.stopped === "skipped" ? RUN_STOPPED : CANCELED });
  return { end: stopped(run) };
}

type Next = "claimed" | { readonly ready: Ready } | { readonly end: Ending } | Parked;

/** An edit is judged as edited; then the lane; what changed while waiting is judged again; then the intent goes to the ledger. */
async function beforeClaim(batch: BatchRun, run: CallRun, { ready, yes }: Claimed): Promise<Next> {
  if (yes?.edited && run.editJudged !== yes.pos) return await judgeEdit(batch, run, { ready, yes });
  const may = run.index < 0 || batch.lanes.enter(run.index);
  if (may !== true && !(await may)) return { parked: undefined };
  if (run.stopped) return await stop(batch, run, ready);
  if (isStale(batch, ready)) return { ready: await rejudge(batch, run, ready) };
  const changed = isBound(ready) ? await changedOperand(batch, run, { ready, yes }) : undefined;
  if (changed) return changed;
  if (yes?.by === "grant" && !(await stillGranted(batch, run, yes))) return { ready };
  return await claim(batch, run, { ready, yes });
}

/** The policy changed, or an unsafe call of the batch ran since the facts were gathered. */
function isStale(batch: BatchRun, ready: Ready): boolean {
  if (batch.policy().revision !== ready.policy.revision) return true;
  return batch.lanes.unsafeRuns() > ready.unsafeRuns;
}

async function judgeEdit(batch: BatchRun, run: CallRun, { ready, yes }: { readonly ready: Ready; readonly yes: Yes }): Promise<Next> {
  const edit = await editOf(batch, run, ready);
  if ("end" in edit) return edit;
  run.editJudged = yes.pos;
  const edited = await judge(batch, run, { taken: edit.go, hook: undefined, editedBy: yes.id });
  await run.written;
  return { ready: edited };
}

async function claim(batch: BatchRun, run: CallRun, { ready, yes }: Claimed): Promise<Next> {
  const { session } = batch.deps;
  if (!mayClaim(batch, run)) return await stop(batch, run, ready);
  const { request, safe } = ready;
  const durability = safe ? "normal" : "full";
  const key = idempotencyKey(batch, run, ready);
  const body = {
    call: run.callId,
    ...(request.fingerprint !== undefined && { fingerprint: request.fingerprint }),
    answer: yes ? { pos: yes.pos } : null,
    attempt: 1,
    durability,
    idempotencyKey: key,
    plan: null,
  } as const;
  const answer = await session.claim(session.draft("call.claimed", body));
  if ("lost" in answer) return await claimLost(batch, run, { ready, yes, lost: answer.lost });
  run.key = key;
  notify(batch, run, { ready, source: yes ? { decision: "allow", source: yes.source } : decidedSource(ready.decision) });
  return "claimed";
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
async function claimLost(batch: BatchRun, run: CallRun, { ready, yes, lost }: Claimed & { readonly lost: ClaimLost }): Promise<Next> {
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

async function effect(batch: BatchRun, run: CallRun, { ready, yes }: Claimed): Promise<Ending> {
  const unseen = yes ? await byPattern(batch, yes) : ready.decision.byRules;
  if (run.stopped) return stopped(run); // a cancel that came while the claim was stored
  return await runBody(batch, run, { ready, attempt: 1, key: run.key, gate: makeGate(batch, run, runCall), unseen, yes });
}

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
