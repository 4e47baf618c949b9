import type { ProposalRow } from "../../model/proposal/proposal.ts";
import { resolveText, thrownWords } from "../../model/proposal/resolve-texts.ts";
import type { ToolResult } from "../../model/result/result.ts";
import type { Ending } from "../dispatch.ts";
import { errorEnding } from "../pipeline/endings.ts";
import { callbackResult, runCallback } from "../pipeline/run-callback.ts";
import { tellLate } from "./apply-by-code.ts";
import { type SettleInput, settleProposal, successEnding } from "./settling.ts";
import { type Closure, forgetProposal, type Staging } from "./staging.ts";

/** Discards a proposal. If its `reject` callback fails, it stays staged. */
export function discardProposal(staging: Staging, id: string, settling: SettleInput): Promise<Ending> {
  return settleProposal(staging, id, { action: "discard", act: (row) => discard(staging, row, settling) });
}

async function discard(staging: Staging, row: ProposalRow, settling: SettleInput): Promise<Ending> {
  const { session, closures } = staging;
  const { resolution } = settling;
  const closure = closures.get(row.id);
  const rejected = closure?.reject ? await reject(staging, row, { closure, settling }) : undefined;
  if (rejected && "end" in rejected) return rejected.end;
  const durability = resolution.by === "person" ? "full" : "normal";
  await session.record([session.draft("proposal.discarded", { proposal: row.id, resolution })], durability);
  forgetProposal(staging, row.id);
  if (!rejected) return successEnding("discarded", resolveText.discarded({ label: row.label, reason: resolution.reason }));
  return { state: "succeeded", type: "discarded", result: rejected.result };
}

type RejectInput = { readonly closure: Closure; readonly settling: SettleInput };

async function reject(
  staging: Staging,
  row: ProposalRow,
  { closure, settling }: RejectInput,
): Promise<{ readonly end: Ending } | { readonly result: ToolResult } | undefined> {
  const { resolution, signal, ctx } = settling;
  const late = (how: string): void => tellLate(staging, row, how);
  const end = await runCallback<unknown>({ clock: staging.clock, signal, late }, (commit) =>
    closure.reject?.(resolution.reason, resolution.extra, { signal, commit, proposalId: row.id, gate: ctx.gate }),
  );
  if (end.state === "unsettled") return { end: errorEnding("unknown", "apply_unknown", resolveText.cancelledUnknown(row)) };
  if (end.state === "threw") {
    if (signal.aborted && !end.committed)
      return { end: errorEnding("cancelled", "cancelled_before_commit", resolveText.cancelledBeforeCommit(row)) };
    return { end: errorEnding("failed", "reject_failed", thrownWords(end.error)) };
  }
  if (end.value === undefined) return undefined;
  const { result } = callbackResult(row.tool, end.value);
  return result.error ? { end: { state: "failed", type: "reject_failed", result } } : { result };
}
