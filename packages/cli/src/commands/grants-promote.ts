import { COMMON, ID_NOTE, WORKSPACE } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const grantsPromote: Command = {
  name: "grants promote",
  group: "decide",
  decides: true,
  summary: "turn a remembered answer into an allow rule in your settings or the project's",
  details: `Shows the change as a diff. The remembered answer stays until you revoke it. ${ID_NOTE}`,
  operands: [{ name: "ID", required: true, listedBy: "assent grants" }],
  options: [
    { name: "to", takes: "choice", choices: ["user", "project"], help: "whose settings file gets the rule (required)" },
    { name: "dry-run", takes: "nothing", help: "show the diff, write nothing" },
    WORKSPACE,
    ...COMMON,
  ],
  exits: {
    0: "written, or the file already has the rule",
    1: "refused: not an active project or user grant, a rule that settings may not contain, or the file cannot be changed",
    2: "wrong usage, or broken settings",
    4: "no such id",
  },
  examples: ["assent grants promote g_3kq7mz --to user --dry-run", "assent grants promote g_3kq7mz --to project"],
  run: async (context) => (await import("../desk/grants/promote.ts")).promoteGrant(context),
};
