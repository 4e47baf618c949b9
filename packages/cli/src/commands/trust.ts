import { COMMON } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const trust: Command = {
  name: "trust",
  group: "decide",
  summary: "let a project's own configuration take effect: rules, hooks, tools, agents, instructions",
  details:
    "Trust covers exactly the current content of these files. After any change the project can only tighten your rules until you trust it again. In a terminal you see what would take effect and are asked; elsewhere --yes is required.",
  guide: "trust.md",
  operands: [{ name: "DIR", required: false }],
  options: [
    { name: "revoke", takes: "nothing", help: "stop trusting it" },
    { name: "show", takes: "nothing", help: "show its state and what would take effect; change nothing" },
    { name: "yes", takes: "nothing", help: "trust it without asking" },
    ...COMMON,
  ],
  exits: {
    0: "done, or shown",
    1: "not trusted: you declined, it cannot be trusted, or the record could not be written",
    2: "wrong usage, no such directory, or neither a terminal nor --yes",
  },
  examples: ["assent trust --show", "assent trust", "assent trust ../other --revoke"],
  run: async (context) => (await import("../desk/trust/trust.ts")).trustCommand(context),
};
