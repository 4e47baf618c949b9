import { ANSWERING, COMMON, ID_EXITS, ID_NOTE, SEVERAL } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";
import { CHOSEN } from "./apply.ts";

export const approve: Command = {
  name: "approve",
  group: "decide",
  decides: true,
  summary: "approve a call, answer a question or apply a proposal; prints success only once it is saved",
  details: `Approves one ID at once; lists several and asks before it approves them. With --write, or for a proposal, --file, --hunk and --part choose what is applied. Look first with 'assent approvals show', and give --fingerprint or --preview to approve only what you saw. ${ID_NOTE}`,
  operands: [{ name: "ID", required: false, repeats: true, listedBy: "assent approvals" }],
  options: [
    ...ANSWERING,
    ...SEVERAL,
    { name: "fingerprint", takes: "text", value: "F", help: "approve only if the request still has this fingerprint" },
    { name: "write", takes: "nothing", help: "write exactly the changes of the shown preview; the command is not run again" },
    { name: "preview", takes: "text", value: "ID", help: "with --write: only if the approval still shows this preview" },
    { name: "run", takes: "nothing", help: "run the command, although its preview could be written" },
    ...CHOSEN,
    { name: "edit", takes: "text", value: "FILE", help: "run this complete input instead (- reads stdin)" },
    {
      name: "remember",
      takes: "choice",
      choices: ["session", "project", "user"],
      help: "also allow similar calls from now on, in this scope",
    },
    { name: "pattern", takes: "list", value: "RULE", help: "with --remember: this rule instead of the suggested ones (repeatable)" },
    { name: "expires", takes: "duration", value: "DURATION", help: "with --remember: only for this long, e.g. 8h" },
    {
      name: "outcome",
      takes: "choice",
      choices: ["proceed_once", "proceed_always", "restore_previous"],
      help: "for a plan: ask before each change, allow edits, or return to the previous mode",
    },
    { name: "answers", takes: "text", value: "JSON", help: "for a question: [{ id, selected, custom?, note? }]; @FILE reads a file" },
    { name: "no-wait", takes: "nothing", help: "for a proposal: return at once if another process has the session open" },
    ...COMMON,
  ],
  exits: ID_EXITS,
  examples: [
    "assent approve a_3kq7mz",
    "assent approve a_3kq7mz a_9wq2xp",
    "assent approve --session s_3kq7mz",
    "assent approve a_3kq7mz --remember session",
    "assent approve a_3kq7mz --edit safer.json",
    "assent approve a_3kq7mz --write --file src/a.ts",
  ],
  run: async (context) => (await import("../desk/approvals/approve.ts")).approve(context),
};
