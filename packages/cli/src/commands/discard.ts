import type { Context } from "../command-line/spec.ts";
import { answerProposal } from "../desk/proposals/answer.ts";

/** Discards a proposal for a person. */
export function run(context: Context): Promise<number> {
  return answerProposal(context, "discard");
}
