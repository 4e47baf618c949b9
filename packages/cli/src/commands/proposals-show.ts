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
  options: [
    { name: "folded", takes: "nothing", help: "list the changed files only" },
    { name: "file", takes: "list", value: "PATH", help: "show only this file (repeatable)" },
    { name: "page", takes: "count", value: "N", max: 1_000_000, help: "show only page N of the changes, 200 lines each" },
    ...COMMON,
  ],
  exits: PROPOSAL_EXITS,
  examples: ["assent proposals show p_3kq7mz", "assent proposals show p_3kq7mz --folded", "assent proposals show p_3kq7mz --file src/a.ts"],
  run: async (context) => (await import("../desk/proposals/show.ts")).showProposal(context),
};
