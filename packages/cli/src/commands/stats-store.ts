import { COMMON, WORKSPACE } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const statsStore: Command = {
  name: "stats store",
  group: "decide",
  decides: true,
  summary: "rehearse an allow rule over the record, then write it into your settings or the project's",
  details:
    "Shows which asked calls the rule would have allowed, which of them were rejected, and the change of the file. Then it asks for confirmation.",
  guide: "rules.md#fewer-questions",
  operands: [{ name: "RULE", required: true, listedBy: "assent stats" }],
  options: [
    { name: "to", takes: "choice", choices: ["user", "project"], help: "whose settings file gets the rule (required)" },
    { name: "since", takes: "duration", value: "DURATION", help: "rehearse only questions of this long until now, e.g. 30d" },
    { name: "yes", takes: "nothing", help: "write it without asking" },
    WORKSPACE,
    ...COMMON,
  ],
  exits: {
    0: "written, or the file already has the rule",
    1: "declined, a rule that settings may not contain, or the file cannot be changed",
    2: "wrong usage, or broken settings",
  },
  examples: ["assent stats store 'Shell(npm run *)' --to project", "assent stats store 'Shell(git commit *)' --to user --yes"],
  run: async (context) => (await import("../desk/stats/store.ts")).storeRule(context),
};
