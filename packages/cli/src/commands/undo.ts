import { BY, COMMON, ID_NOTE, NO_WAIT } from "../command-line/options.ts";
import type { Command, OptionSpec } from "../command-line/spec.ts";
import { PROPOSAL_EXITS } from "./apply.ts";

const REASON: OptionSpec = { name: "reason", takes: "text", value: "TEXT", help: "why you undo it; recorded" };

export const undo: Command = {
  name: "undo",
  group: "decide",
  decides: true,
  summary: "undo an applied change, as long as its files have not changed since",
  details: `Edits that were applied without a preview have an id too: see 'assent proposals --all'. ${ID_NOTE}`,
  operands: [{ name: "ID", required: true, listedBy: "assent proposals --all" }],
  options: [REASON, BY, NO_WAIT, ...COMMON],
  exits: { ...PROPOSAL_EXITS, 0: "undone", 1: "refused: files changed since, it is not applied, or the record could not be written" },
  examples: ["assent undo p_3kq7mz"],
  run: async (context) => (await import("../desk/proposals/answer.ts")).undoProposal(context),
};
