import { ANSWERING, COMMON, ID_NOTE, NO_WAIT } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const PROPOSAL_EXITS: Readonly<Record<number, string>> = {
  0: "done, or already the case",
  1: "refused: files changed since, it was settled differently, a rule denies it, or the record could not be written",
  2: "wrong usage",
  4: "no such id",
};

export const apply: Command = {
  name: "apply",
  group: "decide",
  decides: true,
  summary: "make exactly the changes a proposal shows; writes nothing if a file changed since",
  details: ID_NOTE,
  operands: [{ name: "ID", required: true, listedBy: "assent proposals" }],
  options: [...ANSWERING, NO_WAIT, ...COMMON],
  exits: PROPOSAL_EXITS,
  examples: ["assent apply p_3kq7mz"],
  run: async (context) => (await import("../desk/proposals/answer.ts")).answerProposal(context, "apply"),
};
