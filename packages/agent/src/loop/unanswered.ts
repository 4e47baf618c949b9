import { type BatchReport, isObject } from "@assent/core";
import type { ConversationDeps, RunEnd } from "./conversation.ts";

/** How a run ends that needed a person where there is none: with `fail` at once, with a plan that nobody can approve by handing it over. Undefined: it goes on. */
export async function endUnanswered(
  { plan, onAsk }: Pick<ConversationDeps, "plan" | "onAsk">,
  { results }: BatchReport,
): Promise<(Pick<RunEnd, "reason" | "error"> & { readonly text?: string }) | undefined> {
  for (const report of results) {
    if (report.outcome === "waiting" || report.type !== "denied_unattended") continue;
    const { details, error } = report.result;
    const message = error?.message ?? "Nobody can be asked in this run.";
    if (onAsk === "fail") return { reason: "failed", error: { type: "denied_unattended", message } };
    if (!isObject(details) || details["sourceToolName"] !== "plan_mode") continue;
    const text = await plan?.().catch(() => undefined); // it was shown to nobody; if it is gone by now, there is none
    return { reason: "done", ...(text !== undefined && { text }) };
  }
  return undefined;
}
