import { answerCommand } from "../answer-command.ts";
import type { Context } from "../command-spec.ts";
import { answerProposal } from "../proposal-answer.ts";
import { answerQuestionCommand } from "../question-answer.ts";

/** Answers no. */
export function run(context: Context): Promise<number> {
  const id = context.operands[0] ?? "";
  if (id.startsWith("p_")) return answerProposal(context, "discard");
  if (id.startsWith("q_")) return answerQuestionCommand(context, "declined");
  const reason = context.options.text("reason");
  return answerCommand(context, async () => ({ outcome: "reject", ...(reason !== undefined && { reason }) }));
}
