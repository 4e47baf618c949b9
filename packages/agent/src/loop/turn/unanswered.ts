import { type BatchReport, isObject, type Maybe } from "@assent/core";
import type { RunEnd } from "../conversation.ts";
import type { Talk } from "../conversation-state.ts";

/** How a run ends that needed a person where there is none: with `fail` at once, with a plan that nobody can approve by handing it over. Undefined: it goes on. */
export function endUnanswered({ deps, text }: Pick<Talk, "deps" | "text">, { results }: BatchReport): Maybe<RunEnd | undefined> {
  for (const report of results) {
    if (report.outcome === "waiting" || report.type !== "denied_unattended") continue;
    const { details, error } = report.result;
    const message = error?.message ?? "Nobody can be asked in this run.";
    if (deps.onAsk === "fail") return { reason: "failed", text, error: { type: "denied_unattended", message } };
    if (isObject(details) && details["sourceToolName"] === "plan_mode") return handOver(deps, text);
  }
  return undefined;
}

/** The plan was shown to nobody; if it is gone by now, there is none. */
async function handOver({ plan }: Talk["deps"], text: string): Promise<RunEnd> {
  return { reason: "done", text: (await plan?.().catch(() => undefined)) ?? text };
}
