import { type Call, type Consent, isAsked } from "../../model/call.ts";
import type { ConfirmationDetails } from "../../model/confirmation.ts";
import { UNATTENDED } from "../../model/notification-source.ts";
import type { OpenApproval } from "../../ports.ts";
import type { Ending } from "../dispatch.ts";
import { type BatchRun, type CallRun, type StepResult, skipRest } from "../pipeline/call-run.ts";
import { approverFailedEnding, unattendedEnding } from "../pipeline/endings.ts";
import type { JudgedCall } from "../pipeline/judged-call.ts";
import { notifyVerdict } from "../pipeline/notify.ts";
import { traceApproval } from "../pipeline/tracing.ts";
import { closeApproval } from "./close.ts";
import { confirmationOf, offeredRules } from "./confirm.ts";
import { isPreviewedFirst, previewEffect } from "./effect-preview.ts";
import { checkApproval, type MissingAnswer, type WaitOutcome, waitForAnswer } from "./wait.ts";

/** `judged` is the request that the person approved. */
export type AskOutcome = { readonly go: Consent; readonly judged: JudgedCall } | { readonly end: Ending } | { readonly parked: string };

/** Opens the approval and waits until any process settles it; a changed request asks again. */
export async function askPerson(batch: BatchRun, run: CallRun, judged: JudgedCall): Promise<AskOutcome> {
  const watch = batch.deps.session.watch(() => undefined); // follow other processes during the whole ask
  try {
    return await askUntilSettled(batch, run, judged);
  } finally {
    watch.close();
  }
}

async function askUntilSettled(batch: BatchRun, run: CallRun, judged: JudgedCall): Promise<AskOutcome> {
  run.resumed = true;
  const before = await settledBefore(batch, run, judged);
  if (before !== undefined && "changed" in before) return await askUntilSettled(batch, run, before.changed);
  if (before !== undefined) return withRequest(before, judged);
  const { approver } = batch.deps;
  const onAsk = run.nested ? "deny" : batch.deps.onAsk; // a nested call cannot outlive its process
  const reachable = approver?.available() === true;
  if (!reachable && onAsk !== "park") return await refuseUnattended(batch, run, judged, "unasked");
  if (await isPreviewedFirst(batch, run, judged)) await previewEffect(batch, run, judged, "settings");
  const open = await openApproval(batch, run, judged);
  const waited = reachable ? await waitForAnswer(batch, run, { judged, open }) : "unasked";
  const settled = waited === "preview" ? await askAfterPreview(batch, run, judged, open) : waited;
  if (typeof settled === "string") return onAsk === "park" ? { parked: open.id } : await refuseUnattended(batch, run, judged, settled);
  return "changed" in settled ? await askUntilSettled(batch, run, settled.changed) : withRequest(settled, judged);
}

/** Previews the call. The approval may be settled meanwhile; else it is asked again, with the preview. */
async function askAfterPreview(
  batch: BatchRun,
  run: CallRun,
  judged: JudgedCall,
  { expiresAt }: OpenApproval,
): Promise<Exclude<WaitOutcome, string>> {
  await previewEffect(batch, run, judged, "person");
  const looked = await checkApproval(batch, run, { expiresAt, state: { missing: undefined, grants: true, expired: false, judged } });
  return looked === undefined || typeof looked === "string" ? { changed: judged } : looked;
}

function withRequest(step: StepResult<{ readonly go: Consent }> | { readonly parked: string }, judged: JudgedCall): AskOutcome {
  return "go" in step ? { go: step.go, judged } : step;
}

async function settledBefore(batch: BatchRun, run: CallRun, judged: JudgedCall): Promise<Exclude<WaitOutcome, string> | undefined> {
  const call = batch.deps.session.state.calls.get(run.callId);
  if (call?.state !== "waiting" || (call.approvalState === "open" && call.shown !== judged.request.fingerprint)) return undefined;
  const looked = await checkApproval(batch, run, {
    expiresAt: call.expiresAt,
    state: { missing: undefined, grants: true, expired: false, judged },
  });
  return typeof looked === "string" ? undefined : looked;
}

async function refuseUnattended(batch: BatchRun, run: CallRun, judged: JudgedCall, why: MissingAnswer): Promise<AskOutcome> {
  const failing = batch.deps.onAsk === "fail";
  const call = batch.deps.session.state.calls.get(run.callId);
  if (failing && call?.state === "judged") await openApproval(batch, run, judged);
  await closeApproval(batch, run, "cancelled");
  if (failing) skipRest(batch, "unanswered");
  notifyVerdict(batch, run, { judged, source: UNATTENDED });
  return { end: why === "approver_failed" ? approverFailedEnding(judged) : unattendedEnding(judged, batch.deps.unattendedNote) };
}

/** A changed request gets a higher revision. */
async function openApproval(batch: BatchRun, run: CallRun, judged: JudgedCall): Promise<OpenApproval> {
  const { session } = batch.deps;
  const call = session.state.calls.get(run.callId);
  const before = isAsked(call) ? call : undefined;
  const suggestions = offeredRules(batch, judged);
  const details = await confirmationOf(batch, run, { judged, suggestions });
  const { effect } = details;
  const preview = effect?.state === "shown" ? effect.id : null;
  const isOpen = before?.state === "waiting" && before.approvalState === "open";
  const same = isOpen && before.shown === judged.request.fingerprint && before.preview === preview;
  const open = describeApproval(batch, run, { judged, details, suggestions, before, same });
  if (!same) await recordOpened(batch, { open, judged });
  traceApproval(batch, run, "assent.approval.requested");
  const { id: approvalId, revision, tool } = open;
  batch.emit?.({ type: "confirmation", callId: run.callId, agentName: batch.batch.agentName, approvalId, revision, tool, details });
  return open;
}

async function recordOpened(
  { deps }: BatchRun,
  { open, judged }: { readonly open: OpenApproval; readonly judged: JudgedCall },
): Promise<void> {
  const { effect } = open.details;
  const answersFrom = deps.answersFrom?.();
  const body = {
    approval: open.id,
    call: open.callId,
    revision: open.revision,
    fingerprint: open.fingerprint,
    tool: open.tool,
    title: open.title,
    reason: open.reason,
    source: open.source,
    rule: open.rule,
    explicitAsk: open.explicitAsk,
    details: open.details,
    facts: judged.facts.view ?? null,
    suggestions: open.suggestions,
    expiresAt: open.expiresAt,
    ...(answersFrom && { answersFrom }),
    ...(effect?.state === "shown" && { preview: { id: effect.id, writable: effect.unwritable === undefined } }),
  };
  await deps.session.record([deps.session.draft("approval.opened", body)], "full");
}

type ApprovalDraft = {
  readonly judged: JudgedCall;
  readonly details: ConfirmationDetails;
  readonly suggestions: readonly string[];
  readonly before: Extract<Call, { readonly state: "waiting" | "approved" }> | undefined;
  readonly same: boolean;
};

function describeApproval(batch: BatchRun, run: CallRun, { judged, details, suggestions, before, same }: ApprovalDraft): OpenApproval {
  const { deps } = batch;
  const { request, decision } = judged;
  return {
    id: before?.approval ?? deps.ids.next("a_"),
    revision: (before?.revision ?? 0) + (same ? 0 : 1),
    sessionId: deps.session.id,
    callId: run.callId,
    tool: request.tool,
    title: details.title ?? judged.tool.title,
    fingerprint: request.fingerprint ?? "",
    input: request.input,
    cwd: request.cwd,
    reason: decision.reason,
    source: decision.source,
    rule: decision.rule ?? null,
    explicitAsk: decision.explicitAsk,
    details,
    suggestions,
    expiresAt: same && before?.state === "waiting" ? before.expiresAt : newDeadline(batch),
    ...(judged.facts.view !== undefined && { facts: judged.facts.view }),
    ...(batch.batch.agentName !== undefined && { agentName: batch.batch.agentName }),
  };
}

function newDeadline({ deps }: BatchRun): string | null {
  const { approvalTimeoutMs: given } = deps;
  const ms = typeof given === "function" ? given() : given;
  return ms === undefined ? null : new Date(deps.clock.now() + ms).toISOString();
}
