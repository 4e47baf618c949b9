import type { ClaimLost } from "../../ledger-port.ts";
import type { Consent } from "../../model/call.ts";
import type { EventBodies } from "../../model/events.ts";
import { modelText } from "../../model/text/model-text.ts";
import { stopBeforeClaim } from "../approval/close.ts";
import { changedOperand, isBound } from "./binds.ts";
import { type BatchRun, type CallRun, releaseSession, skipRest, stopCall } from "./call-run.ts";
import { errorEnding } from "./endings.ts";
import { callContext } from "./intake.ts";
import { callKey, isAsk, judgeCall, rejudgeCall } from "./judge.ts";
import type { CallExit, JudgedAgain, JudgedCall, PermittedCall } from "./judged-call.ts";
import { enterLane } from "./lanes.ts";
import { editOf } from "./restore.ts";

/**
 * Waits for the call's lane and puts its intent into the ledger. In order:
 * 1. an edited input is judged first;
 * 2. the lane;
 * 3. the tool's idempotency key, before the last checks;
 * 4. what changed while waiting is judged again;
 * 5. an unsafe call holds the session from its claim to its end, so that no other process takes it over in between;
 * 6. the claim.
 */
export async function claimCall(batch: BatchRun, run: CallRun, permitted: PermittedCall): Promise<PermittedCall | CallExit | JudgedAgain> {
  const { session } = batch.deps;
  const { consent, safe } = permitted;
  if (consent?.edited && run.editJudged !== consent.pos) return await judgeEdit(batch, run, permitted, consent);
  const lane = enterLane(batch.lanes, run.index);
  if (lane !== true && !(await lane)) return { parked: undefined };
  run.key = permitted.tool.definition.idempotencyKey ? await idempotencyKey(batch, run, permitted) : null;
  if (batch.broken.error !== undefined) throw batch.broken.error; // the call before it may have left its lane without an end
  if (run.stopped) return await stopBeforeClaim(batch, run, permitted);
  if (isStale(batch, permitted)) return { again: await rejudgeCall(batch, run, permitted) };
  if (isBound(permitted) || consent !== null) {
    const changed = await changedOperand(batch, run, permitted); // also what was bound to nothing when it was shown
    if (changed) return changed;
  }
  if (consent?.by === "grant" && !(await stillGranted(batch, run, consent))) return { again: permitted };
  if (!safe && session.ledger.durable && !isAsk(batch, permitted)) run.release ??= await session.hold();
  if (!mayClaim(batch, run)) return await stopBeforeClaim(batch, run, permitted);
  const claim = await session.claim(session.draft("call.claimed", claimedBody(run, permitted)));
  return "lost" in claim ? await retryLostClaim(batch, run, permitted, claim.lost) : permitted;
}

/** True if the policy changed, or an unsafe call of the batch ran since the facts were gathered. */
function isStale(batch: BatchRun, judged: JudgedCall): boolean {
  return batch.policy().revision !== judged.policy.revision || batch.lanes.unsafe > judged.unsafeRuns;
}

async function judgeEdit(batch: BatchRun, run: CallRun, judged: JudgedCall, consent: Consent): Promise<CallExit | JudgedAgain> {
  const edit = await editOf(batch, run, judged.tool);
  if (!edit) return await stopBeforeClaim(batch, run, judged);
  if ("end" in edit) return edit;
  run.editJudged = consent.pos;
  const again = await judgeCall(batch, run, edit, consent.id);
  await run.written;
  return { again };
}

function claimedBody(run: CallRun, { request, safe, consent }: PermittedCall): EventBodies["call.claimed"] {
  return {
    call: run.callId,
    answer: consent ? { pos: consent.pos } : null,
    attempt: 1,
    durability: safe ? "normal" : "full",
    idempotencyKey: run.key,
    plan: null,
    ...(request.fingerprint !== undefined && { fingerprint: request.fingerprint }),
  };
}

/** A reached limit ends this call and the rest of its batch. Counts each call once. */
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

async function idempotencyKey(batch: BatchRun, run: CallRun, { tool, invocation, request }: JudgedCall): Promise<string | null> {
  const key: unknown = await tool.definition.idempotencyKey?.(invocation.input, {
    ...callContext(batch, run),
    callKey: callKey(batch, run, request.fingerprint),
  });
  return typeof key === "string" && key.trim() !== "" ? key : null;
}

/** Judges again if the policy or a grant has just changed; otherwise the request is not the one that was decided. */
async function retryLostClaim(batch: BatchRun, run: CallRun, permitted: PermittedCall, lost: ClaimLost): Promise<CallExit | JudgedAgain> {
  releaseSession(run); // a person may be asked next
  await run.written; // if the judgement could not be stored, that failure is the one to report
  if (lost === "policy_changed") return { again: await rejudgeCall(batch, run, permitted) };
  if (lost === "grant_revoked" || lost === "answer_void") {
    run.voided = permitted.consent?.pos;
    return { again: permitted };
  }
  return { end: errorEnding("denied", "fingerprint_mismatch", modelText.fingerprint_mismatch({ name: permitted.request.tool })) };
}

/** Several grants may have answered together; none of them may be revoked by now. */
async function stillGranted({ deps }: BatchRun, run: CallRun, consent: Consent): Promise<boolean> {
  if (consent.also.length === 0) return true; // the claim itself checks a single one
  const rows = await deps.session.ledger.pending("grants", { all: true, limit: 1_000 });
  const stand = consent.also.every((id) => rows.some((row) => row.id === id && row.state !== "revoked" && row.state !== "expired"));
  if (!stand) run.voided = consent.pos;
  return stand;
}
