import { COMMON, ID_EXITS, ID_NOTE } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const approvalsShow: Command = {
  name: "approvals show",
  group: "decide",
  looks: true,
  summary: "show one approval in full: input, why you are asked, what could be remembered",
  details: ID_NOTE,
  operands: [{ name: "ID", required: true, listedBy: "assent approvals" }],
  options: COMMON,
  exits: ID_EXITS,
  examples: ["assent approvals show a_3kq7mz"],
  run: async (context) => (await import("../desk/approvals/show.ts")).showApproval(context),
};
