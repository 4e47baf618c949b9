import { COMMON, MODE_NAMES, WORKSPACE } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const explain: Command = {
  name: "explain",
  group: "look",
  looks: true,
  summary: "say whether a call would be allowed, denied or need approval, and why; runs nothing",
  details:
    "INPUT is the tool's input as JSON, or just the command, file or pattern. Uses your real settings unless you give --policy. Remembered answers do not count, but the output says which would apply.",
  guide: "rules.md",
  operands: [
    { name: "TOOL", required: false, listedBy: "assent tools" },
    { name: "INPUT", required: false },
  ],
  options: [
    { name: "tool", takes: "text", value: "NAME", help: "the tool, instead of TOOL" },
    { name: "input", takes: "text", value: "JSON", help: "its input, instead of INPUT; @FILE reads a file, - reads stdin (default {})" },
    {
      name: "batch",
      takes: "text",
      value: "FILE",
      help: `many calls, one {"id","tool","input","cwd"?} per line (- reads stdin); prints JSON lines`,
    },
    {
      name: "policy",
      takes: "text",
      value: "FILE",
      help: "use only the rules in this file; ignore settings, trust and remembered answers",
    },
    WORKSPACE,
    {
      name: "cwd",
      takes: "text",
      value: "DIR",
      help: "where the call would be made (default: here, or the project if here is outside it)",
    },
    { name: "mode", takes: "choice", choices: MODE_NAMES, help: "explain for this mode (default: the mode in your settings)" },
    { name: "outside", takes: "nothing", help: "explain for a call that another agent runs in its own shell, as assent hook judges it" },
    { name: "client", takes: "text", value: "AGENT", help: "explain for calls of this agent, such as claude; means --outside" },
    ...COMMON,
  ],
  exits: {
    0: "explained, for any decision",
    1: "a line of the batch could not be read",
    2: "wrong usage, an input that does not fit, or broken settings",
    4: "no such tool",
  },
  examples: [
    "assent explain shell 'git push'",
    `assent explain --tool shell --input '{"command":"git push"}'`,
    `assent explain --tool write --input '{"file_path":"a.txt","content":""}' --mode auto-edit --json`,
    "assent explain --outside shell 'ls *.ts'",
    "assent explain --policy strict.json --batch calls.jsonl",
  ],
  run: async (context) => (await import("../desk/explain/explain.ts")).explainCommand(context),
};
