import { isToolError } from "../../errors.ts";
import type { ProposalRow } from "../../model/proposal/proposal.ts";
import { resolveText, thrownWords } from "../../model/proposal/resolve-texts.ts";
import type { ToolResult } from "../../model/result/result.ts";
import { errorTypeOf } from "../../model/result/thrown.ts";
import type { Ending } from "../dispatch.ts";
import { errorEnding } from "../pipeline/endings.ts";
import { type CallbackEnd, callbackResult, runCallback } from "../pipeline/run-callback.ts";
import { recordFirst } from "../session/record-surely.ts";
import { appliedPreview, recordApplied, recordUnknown } from "./record-applied.ts";
import { type ClaimedProposal, restageProposal, type SettleInput } from "./settling.ts";
import { noticeDraft, type Staging } from "./staging.ts";

export async function applyByClosure(staging: Staging, row: ProposalRow, settling: SettleInput): Promise<Ending> {
  const closure = staging.closures.get(row.id);
  if (!closure) return await endLost(staging, row);
  const { session } = staging;
  const { resolution, signal, ctx } = settling;
  const applying = session.draft("proposal.applying", { proposal: row.id, digest: row.digest, resolution });
  await recordFirst(staging, { events: [applying], durability: "full" });
  const callbackCtx = { signal, proposalId: row.id, gate: ctx.gate };
  const apply: ApplyFunction = (commit) => closure.apply(resolution.reason, resolution.extra, { ...callbackCtx, commit });
  return await runApply(staging, row, { apply, signal, direct: false });
}

export async function applyByTool(staging: Staging, { row, tool, manifest, settling, direct }: ClaimedProposal): Promise<Ending> {
  const apply: ApplyFunction = () => tool.definition.apply?.(appliedPreview({ row, manifest, settling }), settling.ctx);
  return await runApply(staging, row, { apply, signal: settling.signal, direct });
}

type ApplyFunction = (commit: () => void) => unknown;
type ApplyRun = { readonly apply: ApplyFunction; readonly signal: AbortSignal; readonly direct: boolean };

async function runApply(staging: Staging, row: ProposalRow, { apply, signal, direct }: ApplyRun): Promise<Ending> {
  const late = (how: string): void => tellLate(staging, row, how);
  const end = await runCallback<unknown>({ clock: staging.clock, signal, late }, apply);
  return await concludeApply(staging, row, { end, signal, direct });
}

async function endLost(staging: Staging, row: ProposalRow): Promise<Ending> {
  const { session } = staging;
  await session.record([session.draft("proposal.stale", { proposal: row.id, cause: "lost", files: [] })], "normal");
  return errorEnding("failed", "proposal_lost", resolveText.lost(row));
}

/** Reports a callback that ended after it was abandoned. */
export function tellLate(staging: Staging, row: ProposalRow, how: string): void {
  const text = `${row.label} (${row.id}) ended after it was given up: ${how}.`;
  staging.session.record([noticeDraft(staging, text)], "normal").catch((error: unknown) => staging.warn(thrownWords(error)));
}

type ApplyEnd = { readonly end: CallbackEnd<unknown>; readonly signal: AbortSignal; readonly direct: boolean };

async function concludeApply(staging: Staging, row: ProposalRow, { end, signal, direct }: ApplyEnd): Promise<Ending> {
  if (end.state === "unsettled") {
    const message = "it was cancelled and did not end";
    await recordUnknown(staging, row, { message, files: [] });
    return errorEnding("unknown", "apply_unknown", resolveText.cancelledUnknown(row));
  }
  if (end.state === "threw") {
    const cancelled = signal.aborted && !end.committed;
    const failure = cancelled ? CANCELLED : failureOf(end.error);
    await restageOrWarn(staging, row, { ...failure, cancelled, dropped: direct });
    if (cancelled) return errorEnding("cancelled", "cancelled_before_commit", resolveText.cancelledBeforeCommit(row));
    return errorEnding("failed", failure.type, failure.message);
  }
  const { result, unkept } = callbackResult(row.tool, end.value);
  if (result.error && !unkept) return await endFailed(staging, row, result, direct);
  await recordApplied(staging, row);
  if (!unkept) return { state: "succeeded", type: "applied", result };
  const content = `${resolveText.applied(row)} ${result.error?.message ?? ""}`; // the effect happened: only its result is lost
  return { state: "succeeded", type: "applied", result: { content, display: content } };
}

const CANCELLED = { type: "cancelled_before_commit", message: "cancelled" } as const;

/** A `ToolError` keeps its own message. */
export function failureOf(error: unknown): { readonly type: string; readonly message: string } {
  if (!isToolError(error)) return { type: "proposal_apply_failed", message: resolveText.applyFailed(thrownWords(error)) };
  const type = errorTypeOf(error);
  return { type: type === "execution_failed" ? "proposal_apply_failed" : type, message: thrownWords(error) };
}

async function endFailed(staging: Staging, row: ProposalRow, result: ToolResult, direct: boolean): Promise<Ending> {
  const message = result.error?.message ?? "";
  const type = "proposal_apply_failed";
  await restageOrWarn(staging, row, { type, message, dropped: direct });
  return { state: "failed", type, result: { ...result, error: { message, type } } };
}

async function restageOrWarn(staging: Staging, row: ProposalRow, failure: Parameters<typeof restageProposal>[2]): Promise<void> {
  try {
    await restageProposal(staging, row, failure);
  } catch (error) {
    staging.warn(`the failed apply of ${row.id} could not be recorded: ${thrownWords(error)}`);
  }
}
