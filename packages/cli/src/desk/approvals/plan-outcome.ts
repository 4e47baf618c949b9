import type { Answer, ApprovalRow } from "@assent/core";
import { CommandError } from "../../io/failure.ts";

/** The mode that follows an approved plan, by the word of the wire for it. */
export function planOutcome({ id, details }: Pick<ApprovalRow, "id" | "details">, word: string | undefined): Pick<Answer, "mode"> {
  if (word === undefined || word === "proceed_once") return {};
  const mode = details.type !== "plan" ? undefined : word === "proceed_always" ? "auto-edit" : details.prePlanMode;
  if (mode !== undefined) return { mode };
  throw new CommandError("bad_answer", 2, {
    message: details.type === "plan" ? `The mode before this plan is not known: ${id}` : `Option '--outcome' is for a plan; ${id} is none.`,
    hint: "The approval is still open.",
  });
}
