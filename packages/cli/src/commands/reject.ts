import { answerCommand } from "../answer-command.ts";
import type { Context } from "../command-spec.ts";
import { answerProposal } from "../proposal-answer.ts";

/** Answers no. */
export function run(context: Context): Promise<number> {
  if (context.operands[0]?.startsWith("p_")) return answerProposal(context, "discard");
  const reason = context.options.text("reason");
  return answerCommand(context, async () => ({ outcome: "reject", ...(reason !== undefined && { reason }) }));
}
