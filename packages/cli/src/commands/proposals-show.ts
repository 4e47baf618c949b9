import { COMMON, ID_NOTE } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";
import { PROPOSAL_EXITS } from "./apply.ts";

export const proposalsShow: Command = {
  name: "proposals show",
  group: "decide",
  looks: true,
  summary: "show one proposal in full: every change it would make, and its state",
  details: ID_NOTE,
  operands: [{ name: "ID", required: true, listedBy: "assent proposals" }],
  options: COMMON,
  exits: PROPOSAL_EXITS,
  examples: ["assent proposals show p_3kq7mz"],
  run: async (context) => (await import("../desk/proposals/show.ts")).showProposal(context),
};
