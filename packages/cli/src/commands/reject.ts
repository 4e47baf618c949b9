import type { Context } from "../command-line/spec.ts";
import { answerCommand } from "../desk/approvals/answer.ts";
import { answerProposal } from "../desk/proposals/answer.ts";
import { answerQuestionCommand } from "../desk/questions/answer.ts";

/** Answers no. */
export function run(context: Context): Promise<number> {
  const id = context.operands[0] ?? "";
  if (id.startsWith("p_")) return answerProposal(context, "discard");
  if (id.startsWith("q_")) return answerQuestionCommand(context, "declined");
  const reason = context.options.text("reason");
  return answerCommand(context, async () => ({ outcome: "reject", ...(reason !== undefined && { reason }) }));
}
