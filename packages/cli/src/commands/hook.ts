import { AGENT, COMMON, ON_OUTSIDE_ASK } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const hook: Command = {
  name: "hook",
  group: "run",
  summary: "decide about a call of another agent; the agent runs it as a hook",
  details:
    "Reads the agent's hook input from stdin, decides by your rules, waits for approval where needed, and answers in the agent's own format. If anything fails before a call, the call is denied. You rarely type this: assent hook install writes it into the agent's configuration.",
  guide: "guard.md",
  operands: [AGENT],
  options: [
    ON_OUTSIDE_ASK,
    { name: "deadline", takes: "duration", value: "DURATION", help: "deny a call that is still waiting after this time (default 598s)" },
    ...COMMON,
  ],
  exits: { 0: "the call may run, or there was nothing to decide", 2: "the call is denied" },
  examples: ["assent hook claude --deadline 598s < event.json"],
  run: async (context) => (await import("../guard/hook.ts")).hookCommand(context),
};
