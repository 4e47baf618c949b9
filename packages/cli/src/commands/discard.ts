import type { Context } from "../command-spec.ts";
import { answerProposal } from "../proposal-answer.ts";

/** Discards a proposal for a person. */
export function run(context: Context): Promise<number> {
  return answerProposal(context, "discard");
}
