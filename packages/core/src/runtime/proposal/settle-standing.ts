import type { Consent } from "../../model/call.ts";
import type { EventBodies } from "../../model/events.ts";
import { parseEvent } from "../../model/known-event.ts";
import { resolveText } from "../../model/proposal/resolve-texts.ts";
import type { ToolResult } from "../../model/result/result.ts";
import { contentText } from "../../model/text/content-text.ts";
import type { RunContext } from "../../tool-definition.ts";
import type { Ending } from "../dispatch.ts";
import type { BatchRun, CallRun } from "../pipeline/call-run.ts";
import { errorEnding } from "../pipeline/endings.ts";
import { type CallbackEnd, callbackResult, runCallback } from "../pipeline/run-callback.ts";
import { failureOf } from "./apply-by-code.ts";
import { nothingToSettle, successEnding } from "./settling.ts";
import type { StandingContext, StandingHandler, StandingResult } from "./standing-handler.ts";
import type { ResolveInput, ResolveTarget } from "./target.ts";

type StandingCall = {
  readonly target: Extract<ResolveTarget, { readonly kind: "standing" }>;
  readonly input: ResolveInput;
  readonly ctx: RunContext;
  readonly yes: Consent | null;
};

type StandingEnd = { readonly ending: Ending; readonly label?: string };

/** Settles the call by its standing handler, if that is still registered. */
export async function settleStanding(batch: BatchRun, run: CallRun, standing: StandingCall): Promise<StandingEnd> {
  const { target, input, ctx } = standing;
  const { handler, asked } = target;
  if (batch.staging.standing !== handler) return { ending: withNote(nothingToSettle(input.action), handler.gone) };
  const label = asked.question?.label ?? handler.label;
  if (asked.answer) return { ending: endOf(handler, input, asked.answer), label };
  if (input.action === "discard" && !handler.reject) return { ending: plainDiscard(label, input), label };
  const answer = standing.yes ? await answerAt(batch, run, standing.yes) : undefined;
  const { clock, warn } = batch.staging;
  const late = (how: string): void => warn(`${label} ended after it was given up: ${how}.`);
  const end = await runCallback<StandingResult | undefined>({ clock, signal: ctx.signal, late }, (commit) =>
    call(handler, input, { callId: run.callId, signal: ctx.signal, commit, digest: asked.digest, answer }),
  );
  return conclude(standing, label, end);
}

function call(
  handler: StandingHandler,
  { action, reason, extra }: ResolveInput,
  ctx: StandingContext,
): ReturnType<NonNullable<StandingHandler["reject"]>> {
  const words = { reason, extra };
  return action === "apply" ? handler.apply(words, ctx) : handler.reject?.(words, ctx);
}

function conclude({ target, input, ctx }: StandingCall, label: string, end: CallbackEnd<StandingResult | undefined>): StandingEnd {
  if (end.state === "unsettled") return { ending: errorEnding("unknown", "apply_unknown", resolveText.cancelledUnknown({ label })), label };
  if (end.state === "threw") {
    const { type, message } = failureOf(end.error);
    const cancelled = ctx.signal.aborted && !end.committed;
    if (cancelled)
      return { ending: errorEnding("cancelled", "cancelled_before_commit", resolveText.cancelledBeforeCommit({ label })), label };
    return { ending: errorEnding("failed", type, message), label };
  }
  if (!end.value) return { ending: plainDiscard(label, input), label };
  return { ending: endOf(target.handler, input, end.value.result), label: end.value.label ?? label };
}

function plainDiscard(label: string, { reason }: ResolveInput): Ending {
  return successEnding("discarded", resolveText.discarded({ label, reason }));
}

function endOf({ sourceToolName }: StandingHandler, { action }: ResolveInput, given: ToolResult | string): Ending {
  const { result } = callbackResult(sourceToolName, given);
  if (result.error) return { state: "failed", type: result.error.type ?? "proposal_apply_failed", result };
  return { state: "succeeded", type: action === "apply" ? "applied" : "discarded", result };
}

function withNote(ending: Ending, note: string | undefined): Ending {
  if (note === undefined) return ending;
  const text = `${contentText(ending.result.content)}\n${note}`;
  return ending.result.error ? errorEnding(ending.state, ending.type ?? "no_pending_action", text) : successEnding(ending.type ?? "", text);
}

async function answerAt({ deps }: BatchRun, run: CallRun, yes: Consent): Promise<EventBodies["approval.answered"] | undefined> {
  const { ledger, id } = deps.session;
  for await (const stored of ledger.read({ pos: yes.pos - 1 }, { naming: id, call: run.callId, types: ["approval.answered"] })) {
    const event = parseEvent(stored);
    if (event?.type === "approval.answered" && event.pos === yes.pos) return event.body;
  }
  return undefined;
}
