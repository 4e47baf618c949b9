import { COMMON, JUDGING, MODEL, WORKSPACE } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const tui: Command = {
  name: "tui",
  group: "run",
  streams: "quietly",
  decides: true,
  summary: "talk to a model in this terminal; plain 'assent' does the same",
  details:
    "Calls that are not allowed by your rules are shown to you, and you approve or reject each one. Press ? for keys, / for commands.",
  guide: "tutorial-terminal.md",
  operands: [{ name: "PROMPT", required: false }],
  options: [
    ...MODEL,
    ...JUDGING,
    { name: "resume", takes: "text", value: "SESSION", help: "continue an earlier conversation" },
    { name: "plain", takes: "nothing", help: "print line by line, for screen readers and simple terminals" },
    WORKSPACE,
    { name: "cwd", takes: "text", value: "DIR", help: "where the model works (default: here)" },
    ...COMMON.map((option) => (option.name === "json" ? { ...option, help: "if it cannot start, print the error as JSON" } : option)),
  ],
  exits: {
    0: "you left",
    1: "the record could not be read or written",
    2: "wrong usage",
    75: "you left while something waits for an answer",
  },
  examples: ["assent", "assent --mode plan", "assent --resume s_3kq7mz", "assent --plain"],
  run: async (context) => {
    const { openTui } = await import("../tui/open-tui.ts");
    return openTui(context, { session: context.options.text("resume"), prompt: context.operands[0] });
  },
};
