import type { Context } from "../command-spec.ts";
import { answerProposal } from "../proposal-answer.ts";

/** Applies a proposal for a person. */
export function run(context: Context): Promise<number> {
  return answerProposal(context, "apply");
}
