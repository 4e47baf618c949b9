import { andThen } from "../../and-then.ts";
import type { ClaimLost } from "../../ledger-port.ts";
import type { Yes } from "../../model/call.ts";
import { ClaimedBody } from "../../model/call-bodies.ts";
import { CANCELED, decidedSource, RUN_STOPPED } from "../../model/notification-source.ts";
import { modelText } from "../../model/text/model-text.ts";
import type { Maybe } from "../../tool-definition.ts";
import { closeApproval, parkedApproval } from "../approval/close.ts";
import type { Ending } from "../dispatch.ts";
import type { Session } from "../session/session.ts";
import { isAsk } from "./assess-call.ts";
import { type BatchRun, type CallRun, committed, releaseSession, type Step, skipRest, stopCall } from "./call-run.ts";
import { stopped, synthesised } from "./endings.ts";
import { callContext } from "./intake.ts";
import { callKey, judge, type Ready, rejudge } from "./judge.ts";
import { enterLane } from "./lanes.ts";
import { isObserved, notify } from "./notify.ts";
import { changedOperand, isBound } from "./operands.ts";
import { needsNobody, permit } from "./permission.ts";
import { editOf } from "./restore.ts";

/** A call that may run, and the yes it runs on; null: nobody had to be asked. */
export type Claimed = { readonly ready: Ready; readonly yes: Yes | null };

/** A call that waits beyond this process: for the approval of this id, or behind another. */
export type Parked = { readonly parked: string | undefined };

/** Claimed, at its end, parked, or to be looked at again as it was judged anew. */
export type Attempt = Step<Claimed> | Parked | { readonly ready: Ready };

/** permission → the call's lane → what changed meanwhile is judged again → the intent goes to the ledger. */
export function tryClaim(batch: BatchRun, run: CallRun, ready: Ready): Maybe<Attempt> {
  if (batch.broken.error !== undefined) throw batch.broken.error;
  if (run.stopped) return stop(batch, run, ready);
  return needsNobody(run, ready) ? takeLane(batch, run, { ready, yes: null }) : claimIfPermitted(batch, run, ready);
}

async function claimIfPermitted(batch: BatchRun, run: CallRun, ready: Ready): Promise<Attempt> {
  const permitted = await permit(batch, run, ready);
  if ("parked" in permitted || "ready" in permitted) return permitted;
  if ("end" in permitted) return reportBlock(batch, run, { ready, end: permitted.end });
  return await takeLane(batch, run, { ready: "judged" in permitted ? permitted.judged : ready, yes: permitted.go });
}

function reportBlock(batch: BatchRun, run: CallRun, { ready, end }: { readonly ready: Ready; readonly end: Ending }): Step<Claimed> {
  if (end.type === "denied_by_hook") return blockedByHook(batch, run, end);
  if (end.state === "cancelled") notify(batch, run, { ready, source: CANCELED });
  return { end };
}

/** When the session is parked, a call keeps its open approval or unused answer; any other call is cancelled. */
async function stop(batch: BatchRun, run: CallRun, ready: Ready): Promise<Parked | { readonly end: Ending }> {
  await committed(run);
  const parked = parkedApproval(batch, run);
  if (parked) return parked;
  await closeApproval(batch, run, "cancelled");
  notify(batch, run, { ready, source: run.stopped === "skipped" ? RUN_STOPPED : CANCELED });
  return { end: stopped(run) };
}

/** An edit is judged as edited; then the lane; what changed while waiting is judged again; then the intent goes to the ledger. */
function takeLane(batch: BatchRun, run: CallRun, claimed: Claimed): Maybe<Attempt> {
  const { ready, yes } = claimed;
  if (yes?.edited && run.editJudged !== yes.pos) return judgeEdit(batch, run, { ready, yes });
  const may = run.index < 0 || enterLane(batch.lanes, run.index);
  return may === true ? inLane(batch, run, claimed) : inLaneLater(batch, run, { claimed, may });
}

type Entering = { readonly claimed: Claimed; readonly may: Promise<boolean> };

async function inLaneLater(batch: BatchRun, run: CallRun, { claimed, may }: Entering): Promise<Attempt> {
  return (await may) ? inLane(batch, run, claimed) : { parked: undefined };
}

/** The tool names its key first: nothing may come between the last look at the world and the claim. */
function inLane(batch: BatchRun, run: CallRun, claimed: Claimed): Maybe<Attempt> {
  const key = idempotencyKey(batch, run, claimed.ready);
  return andThen(key, (known: string | null) => {
    run.key = known;
    return claimUnlessStale(batch, run, claimed);
  });
}

function claimUnlessStale(batch: BatchRun, run: CallRun, claimed: Claimed): Maybe<Attempt> {
  const { ready, yes } = claimed;
  if (batch.broken.error !== undefined) throw batch.broken.error; // the call before it may have left its lane without an end
  if (run.stopped) return stop(batch, run, ready);
  if (isStale(batch, ready)) return judgeAgain(batch, run, ready);
  return isBound(ready) || yes !== null ? claimIfUnchanged(batch, run, claimed) : holdAndClaim(batch, run, claimed);
}

async function claimIfUnchanged(batch: BatchRun, run: CallRun, { ready, yes }: Claimed): Promise<Attempt> {
  const changed = await changedOperand(batch, run, { ready, yes }); // also what was bound to nothing when it was shown
  if (changed) return changed;
  if (yes?.by === "grant" && !(await stillGranted(batch, run, yes))) return { ready };
  return await holdAndClaim(batch, run, { ready, yes });
}

async function judgeAgain(batch: BatchRun, run: CallRun, ready: Ready): Promise<Attempt> {
  return { ready: await rejudge(batch, run, ready) };
}

/** The policy changed, or an unsafe call of the batch ran since the facts were gathered. */
function isStale(batch: BatchRun, ready: Ready): boolean {
  if (batch.policy().revision !== ready.policy.revision) return true;
  return batch.lanes.unsafe > ready.unsafeRuns;
}

async function judgeEdit(batch: BatchRun, run: CallRun, { ready, yes }: { readonly ready: Ready; readonly yes: Yes }): Promise<Attempt> {
  const edit = await editOf(batch, run, ready);
  if ("end" in edit) return edit;
  run.editJudged = yes.pos;
  const edited = await judge(batch, run, { taken: edit, hook: undefined, editedBy: yes.id });
  await run.written;
  return { ready: edited };
}

/** Holds the session from the intent of an unsafe call to its end, so that no other process takes it over in between. */
function holdAndClaim(batch: BatchRun, run: CallRun, claimed: Claimed): Maybe<Attempt> {
  const { ledger } = batch.deps.session;
  const { safe, taken } = claimed.ready;
  return safe || !ledger.durable || isAsk(batch, taken) ? claim(batch, run, claimed) : claimHeld(batch, run, claimed);
}

async function claimHeld(batch: BatchRun, run: CallRun, claimed: Claimed): Promise<Attempt> {
  run.release ??= await batch.deps.session.hold();
  return await claim(batch, run, claimed);
}

function claim(batch: BatchRun, run: CallRun, claimed: Claimed): Maybe<Attempt> {
  const { session } = batch.deps;
  const { ready, yes } = claimed;
  if (!mayClaim(batch, run)) return stop(batch, run, ready);
  const { request, safe } = ready;
  const durability = safe ? "normal" : "full";
  const answer = yes ? { pos: yes.pos } : null;
  const body = new ClaimedBody({ call: run.callId, answer, attempt: 1, durability, idempotencyKey: run.key, plan: null });
  if (request.fingerprint !== undefined) body.fingerprint = request.fingerprint;
  const now = batch.deps.clock.now();
  const claiming = session.claim(session.draft("call.claimed", body, now));
  run.claimedAt = claiming instanceof Promise || "lost" in claiming ? 0 : now;
  if (claiming instanceof Promise) return claimToldLater(batch, run, { claimed, claiming });
  return claimTold(batch, run, { claimed, told: claiming });
}

type Told = Awaited<ReturnType<Session["claim"]>>;

async function claimToldLater(
  batch: BatchRun,
  run: CallRun,
  { claimed, claiming }: { readonly claimed: Claimed; readonly claiming: Promise<Told> },
): Promise<Attempt> {
  return claimTold(batch, run, { claimed, told: await claiming });
}

function claimTold(batch: BatchRun, run: CallRun, { claimed, told }: { readonly claimed: Claimed; readonly told: Told }): Maybe<Attempt> {
  const { ready, yes } = claimed;
  if ("lost" in told) return claimLost(batch, run, { ready, yes, lost: told.lost });
  if (isObserved(batch))
    notify(batch, run, { ready, source: yes ? { decision: "allow", source: yes.source } : decidedSource(ready.decision) });
  return claimed;
}

/** A limit that is reached ends this call and the rest of its batch; a call that it let pass once is not counted twice. */
function mayClaim(batch: BatchRun, run: CallRun): boolean {
  const limit = run.counted ? undefined : batch.deps.mayClaim?.();
  if (limit === undefined) {
    run.counted = true;
    return true;
  }
  stopCall(run, "skipped", limit); // a nested call is in no batch
  skipRest(batch, "limit", limit);
  return false;
}

function idempotencyKey(batch: BatchRun, run: CallRun, { taken, request }: Ready): Maybe<string | null> {
  const make = taken.tool.definition.idempotencyKey;
  if (!make) return null;
  const key = make(taken.invocation.input, { ...callContext(batch, run), callKey: callKey(batch, run, request.fingerprint) });
  return andThen(key, usableKey);
}

/** What is no key protects nothing. */
function usableKey(key: unknown): string | null {
  return typeof key === "string" && key.trim() !== "" ? key : null;
}

/** A policy or grant that changed in this very moment is judged again; anything else means that this is not the request that was decided. */
async function claimLost(batch: BatchRun, run: CallRun, { ready, yes, lost }: Claimed & { readonly lost: ClaimLost }): Promise<Attempt> {
  releaseSession(run); // a person may be asked next
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
