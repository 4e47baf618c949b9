import type { Answer, ApprovalRow } from "@assent/core";
import { CommandError } from "./failure.ts";

/** What an answer's word on the wire means for this approval: for a plan the mode that follows, for anything else what is remembered. */
export function planOutcome(
  { id, details }: Pick<ApprovalRow, "id" | "details">,
  word: string | undefined,
): Pick<Answer, "mode" | "remember"> {
  const plan = details.type === "plan" ? details : undefined;
  if (word === "proceed_always") return plan ? { mode: "auto-edit" } : { remember: { scope: "session" } };
  if (word !== "restore_previous") return {};
  if (plan?.prePlanMode !== undefined) return { mode: plan.prePlanMode };
  throw new CommandError("bad_answer", 1, {
    message: plan ? `The mode before this plan is not known: ${id}` : `Only the approval of a plan can restore a mode: ${id}`,
    hint: "The approval is still open.",
  });
}
