import { ANSWERING, COMMON, ID_NOTE, NO_WAIT } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";
import { PROPOSAL_EXITS } from "./apply.ts";

export const discard: Command = {
  name: "discard",
  group: "decide",
  decides: true,
  summary: "drop a proposal without touching any file; the model sees your reason",
  details: ID_NOTE,
  operands: [{ name: "ID", required: true, listedBy: "assent proposals" }],
  options: [...ANSWERING, NO_WAIT, ...COMMON],
  exits: PROPOSAL_EXITS,
  examples: ["assent discard p_3kq7mz --reason 'wrong folder'"],
  run: async (context) => (await import("../desk/proposals/answer.ts")).answerProposal(context, "discard"),
};
