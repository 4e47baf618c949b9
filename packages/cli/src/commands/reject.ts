import { answerCommand } from "../answer-command.ts";
import type { Context } from "../command-spec.ts";

/** Answers no. */
export function run(context: Context): Promise<number> {
  const reason = context.options.text("reason");
  return answerCommand(context, async () => ({ outcome: "reject", ...(reason !== undefined && { reason }) }));
}
