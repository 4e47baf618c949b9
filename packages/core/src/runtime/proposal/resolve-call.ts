import type { Consent } from "../../model/call.ts";
import type { Json } from "../../model/json/json.ts";
import type { Resolution } from "../../model/proposal/events.ts";
import type { ProposalRow } from "../../model/proposal/proposal.ts";
import { resolveText } from "../../model/proposal/resolve-texts.ts";
import type { ToolResult } from "../../model/result/result.ts";
import { contentText } from "../../model/text/content-text.ts";
import type { RunContext } from "../../tool-definition.ts";
import { readAnswer } from "../approval/read-answer.ts";
import type { Ending } from "../dispatch.ts";
import type { BatchRun, CallRun } from "../pipeline/call-run.ts";
import { errorEnding } from "../pipeline/endings.ts";
import type { PermittedCall } from "../pipeline/judged-call.ts";
import { type CallbackEnd, callbackResult, runCallback } from "../pipeline/run-callback.ts";
import { applyProposal } from "./apply.ts";
import { failureOf } from "./apply-by-code.ts";
import { discardProposal } from "./discard.ts";
import type { FallbackContext, FallbackResult, ResolveFallback, ResolveInput, ResolveTarget } from "./resolve.ts";
import { isStagedAfter, resolveInput } from "./resolve-target.ts";
import { nothingToSettle, type SettleInput, successEnding, unknownProposal } from "./settling.ts";
import { resolverOf, stagedRows } from "./staging.ts";
import { findProposal } from "./stored.ts";

export async function resolveCall(batch: BatchRun, run: CallRun, { request, consent }: PermittedCall, ctx: RunContext): Promise<Ending> {
  const input = resolveInput(request.input);
  const target: ResolveTarget = run.target?.target ?? { kind: "none", why: "nothing" };
  if (target.kind === "fallback") {
    const { ending, label } = await settleByFallback(batch, run, { target, input, ctx, consent });
    return withDetails(ending, input, label === undefined ? {} : { sourceToolName: target.handler.sourceToolName, label }, ctx.signal);
  }
  if (target.kind === "proposal") return await settleTarget(batch, run, { id: target.id, digest: target.digest, input, ctx, consent });
  const { ending, row } = nothingPending(batch, target, input);
  return withDetails(ending, input, row ? aboutRow(row, undefined) : {}, ctx.signal);
}

/** Adds target details to a `resolve` call that ended before its body. */
export async function describeUnresolved({ staging }: BatchRun, run: CallRun, ending: Ending): Promise<Ending> {
  const { target } = run.target ?? {};
  if (!target || ending.result.details !== undefined) return ending;
  const { session } = staging;
  const row = target.kind === "proposal" ? (session.state.proposals.get(target.id) ?? (await findProposal(session, target.id))) : undefined;
  const about = row ? aboutRow(row, undefined) : aboutFallback(target);
  return withDetails(ending, resolveInput(run.input), about, new AbortController().signal);
}

function aboutFallback(target: ResolveTarget): TargetDetails {
  if (target.kind !== "fallback") return {};
  const { handler, asked } = target;
  return { sourceToolName: handler.sourceToolName, label: asked.question?.label ?? handler.label };
}

type TargetedProposal = {
  readonly id: string;
  readonly digest: string;
  readonly input: ResolveInput;
  readonly ctx: RunContext;
  readonly consent: Consent | null;
};

async function settleTarget(batch: BatchRun, run: CallRun, targeted: TargetedProposal): Promise<Ending> {
  const { staging } = batch;
  const { id, input, ctx } = targeted;
  const details = staging.closures.get(id)?.details;
  const ending = refuseTarget(batch, run, targeted) ?? (await settleForModel(batch, run, targeted));
  const row = staging.session.state.proposals.get(id) ?? (await findProposal(staging.session, id));
  return withDetails(ending, input, row ? aboutRow(row, details) : {}, ctx.signal);
}

function refuseTarget(batch: BatchRun, run: CallRun, { id, digest, input }: TargetedProposal): Ending | undefined {
  const row = batch.staging.session.state.proposals.get(id);
  if (row && row.digest !== digest) return errorEnding("failed", "proposal_not_pending", resolveText.notPending(row, "applied"));
  const unforced = input.id === undefined && batch.batch.proposal !== id;
  if (unforced && stagedMeanwhile(batch, run)) return ambiguousEnding(batch);
  const person = resolverOf(batch.policy()) === "person";
  if (row?.state === "staged" && person && input.action === "apply")
    return errorEnding("failed", "resolver_is_person", resolveText.resolverIsPerson(row));
  return undefined;
}

/** An earlier call of the batch staged a proposal the model has not seen. */
function stagedMeanwhile(batch: BatchRun, run: CallRun): boolean {
  return stagedRows(batch.staging).some((row) => row.callId !== null && isStagedAfter(batch, run, row));
}

function ambiguousEnding({ staging }: BatchRun): Ending {
  return errorEnding("failed", "proposal_ambiguous", resolveText.ambiguous(stagedRows(staging)));
}

async function settleForModel(batch: BatchRun, run: CallRun, { id, input, ctx, consent }: TargetedProposal): Promise<Ending> {
  const { staging } = batch;
  const { action, reason, extra } = input;
  const answer = action === "apply" && consent ? await readAnswer(batch, run, consent) : undefined;
  if (!answer && action === "apply" && (consent?.by === "person" || consent?.by === "host"))
    return errorEnding("failed", "execution_failed", "Nothing was applied: the person's answer could not be read.");
  const part = answer?.part;
  const row = staging.session.state.proposals.get(id);
  if (part && row && (row.carrier === "closure" || row.files === 0)) return errorEnding("failed", "invalid_part", resolveText.noParts(row));
  const at = new Date(staging.clock.now()).toISOString();
  const chosen = answer && part && { by: "person" as const, who: answer.by };
  const resolution: Resolution = { action, by: "model", ...chosen, reason, ...(extra && { extra }), callId: run.callId, at };
  const settling: SettleInput = { resolution, signal: ctx.signal, ctx, part };
  if (action === "discard") return await discardProposal(staging, id, settling);
  const ending = await applyProposal(staging, id, settling);
  return part && ending.type === "applied" ? withFirstLine(ending, resolveText.personChosePart()) : ending;
}

function withFirstLine(ending: Ending, line: string): Ending {
  return { ...ending, result: { ...ending.result, content: `${line}\n${contentText(ending.result.content)}` } };
}

type NothingPending = { readonly ending: Ending; readonly row?: ProposalRow };

function nothingPending(
  batch: BatchRun,
  target: Extract<ResolveTarget, { kind: "none" | "gone" }>,
  { action, id = "" }: ResolveInput,
): NothingPending {
  if (target.kind === "none" && target.why === "unknown") return { ending: unknownProposal(batch.staging, id, target.owner) };
  if (target.kind === "none" && target.why === "ambiguous") return { ending: ambiguousEnding(batch) };
  const { lost } = batch.staging.session.state;
  if (lost && action === "apply") return { ending: errorEnding("failed", "proposal_lost", resolveText.lost(lost)), row: lost };
  if (lost) return { ending: successEnding("nothing_to_discard", resolveText.alreadySettled(lost)), row: lost };
  return { ending: nothingToSettle(action) };
}

type TargetDetails = { readonly [key: string]: Json };

function aboutRow({ id, tool, label, state }: ProposalRow, own: Json | undefined): TargetDetails {
  const given = own === undefined || own === null ? {} : { sourceResultDetails: own };
  return { ...given, sourceToolName: tool, label, proposalId: id, proposalState: state };
}

function withDetails(ending: Ending, { action, reason, extra }: ResolveInput, about: TargetDetails, signal: AbortSignal): Ending {
  const { details, ...result } = ending.result;
  const { sourceResultDetails: own, ...named } = about;
  const source = details ?? (ending.state === "succeeded" ? own : undefined);
  const late = ending.type === "applied" && signal.aborted;
  const all: TargetDetails = {
    action,
    reason,
    ...(extra && { extra }),
    ...named,
    ...(source !== undefined && source !== null && { sourceResultDetails: source }),
    ...(late && { cancelRequested: true }),
  };
  return { ...ending, result: { ...result, details: all } };
}

type FallbackCall = {
  readonly target: Extract<ResolveTarget, { readonly kind: "fallback" }>;
  readonly input: ResolveInput;
  readonly ctx: RunContext;
  readonly consent: Consent | null;
};

type FallbackEnd = { readonly ending: Ending; readonly label?: string };

async function settleByFallback(batch: BatchRun, run: CallRun, fallback: FallbackCall): Promise<FallbackEnd> {
  const { target, input, ctx } = fallback;
  const { handler, asked } = target;
  if (batch.staging.fallback !== handler) return { ending: withNote(nothingToSettle(input.action), handler.gone) };
  const label = asked.question?.label ?? handler.label;
  if (asked.answer) return { ending: endOf(handler, input, asked.answer), label };
  if (input.action === "discard" && !handler.reject) return { ending: discardedEnding(label, input), label };
  const answer = fallback.consent ? await readAnswer(batch, run, fallback.consent) : undefined;
  const { clock, warn } = batch.staging;
  const late = (how: string): void => warn(`${label} ended after it was given up: ${how}.`);
  const end = await runCallback<FallbackResult | undefined>({ clock, signal: ctx.signal, late }, (commit) =>
    callHandler(handler, input, { callId: run.callId, signal: ctx.signal, commit, digest: asked.digest, answer }),
  );
  return concludeFallback(fallback, label, end);
}

function callHandler(
  handler: ResolveFallback,
  { action, reason, extra }: ResolveInput,
  ctx: FallbackContext,
): ReturnType<NonNullable<ResolveFallback["reject"]>> {
  const words = { reason, extra };
  return action === "apply" ? handler.apply(words, ctx) : handler.reject?.(words, ctx);
}

function concludeFallback({ target, input, ctx }: FallbackCall, label: string, end: CallbackEnd<FallbackResult | undefined>): FallbackEnd {
  if (end.state === "unsettled") return { ending: errorEnding("unknown", "apply_unknown", resolveText.cancelledUnknown({ label })), label };
  if (end.state === "threw") {
    const { type, message } = failureOf(end.error);
    const cancelled = ctx.signal.aborted && !end.committed;
    if (cancelled)
      return { ending: errorEnding("cancelled", "cancelled_before_commit", resolveText.cancelledBeforeCommit({ label })), label };
    return { ending: errorEnding("failed", type, message), label };
  }
  if (!end.value) return { ending: discardedEnding(label, input), label };
  return { ending: endOf(target.handler, input, end.value.result), label: end.value.label ?? label };
}

function discardedEnding(label: string, { reason }: ResolveInput): Ending {
  return successEnding("discarded", resolveText.discarded({ label, reason }));
}

function endOf({ sourceToolName }: ResolveFallback, { action }: ResolveInput, given: ToolResult | string): Ending {
  const { result } = callbackResult(sourceToolName, given);
  if (result.error) return { state: "failed", type: result.error.type ?? "proposal_apply_failed", result };
  return { state: "succeeded", type: action === "apply" ? "applied" : "discarded", result };
}

function withNote(ending: Ending, note: string | undefined): Ending {
  if (note === undefined) return ending;
  const text = `${contentText(ending.result.content)}\n${note}`;
  return ending.result.error ? errorEnding(ending.state, ending.type ?? "no_pending_action", text) : successEnding(ending.type ?? "", text);
}
