import { COMMON, MODE_NAMES, WORKSPACE } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const policyTest: Command = {
  name: "policy test",
  group: "look",
  looks: true,
  summary: "check that calls are decided as a file expects; runs nothing",
  details:
    'FILE has one {"tool","input","cwd"?,"expect"} per line, or a JSON list of them. "input" is the tool\'s input, or just the command, file or pattern. "expect" is allow, ask or deny.',
  guide: "rules.md",
  operands: [{ name: "FILE", required: true }],
  options: [
    {
      name: "policy",
      takes: "text",
      value: "FILE",
      help: "use only the rules in this file; ignore settings, trust and remembered answers",
    },
    WORKSPACE,
    { name: "mode", takes: "choice", choices: MODE_NAMES, help: "decide in this mode (default: the mode in your settings)" },
    { name: "outside", takes: "nothing", help: "decide about calls that another agent runs in its own shell" },
    { name: "client", takes: "text", value: "AGENT", help: "decide about calls of this agent, such as claude; means --outside" },
    ...COMMON,
  ],
  exits: { 0: "every call is decided as expected", 1: "some are not", 2: "wrong usage, a file that cannot be read, or broken settings" },
  examples: ["assent policy test calls.jsonl --policy team.json", "assent policy test calls.jsonl --client codex"],
  run: async (context) => (await import("../desk/policy/test.ts")).testPolicy(context),
};
