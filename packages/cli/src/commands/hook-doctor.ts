import { AGENT, COMMON } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const hookDoctor: Command = {
  name: "hook doctor",
  group: "maintain",
  decides: true,
  summary: "prove that a guarded agent does not run what Assent denies",
  details:
    "Starts the real agent here, in its most permissive mode, with a model on this machine that proposes one harmless command. Assent denies it. The doctor checks that the agent asked and that the command did not run.",
  guide: "guard.md",
  operands: [AGENT],
  options: [{ name: "max-time", takes: "duration", value: "DURATION", help: "stop the agent after this long (default 5m)" }, ...COMMON],
  exits: { 0: "proven: the agent asked, and the denied command did not run", 1: "not proven; the text says why" },
  examples: ["assent hook doctor claude", "assent hook doctor opencode --max-time 10m"],
  run: async (context) => (await import("../guard/doctor.ts")).examineAgent(context),
};
