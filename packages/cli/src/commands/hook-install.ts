import { AGENT, COMMON, HOOK_CHANGES, ON_OUTSIDE_ASK } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const hookInstall: Command = {
  name: "hook install",
  group: "decide",
  decides: true,
  summary: "guard another agent: add Assent to its hooks",
  details:
    "Shows the change to the agent's configuration and asks. Other hooks and settings stay. The first version of each file is kept beside it as FILE.before-assent.",
  guide: "guard.md",
  operands: [AGENT],
  options: [...HOOK_CHANGES, ON_OUTSIDE_ASK, ...COMMON],
  exits: { 0: "done, or nothing to change", 1: "declined, or a file cannot be changed", 2: "wrong usage, or neither a terminal nor --yes" },
  examples: ["assent hook install claude", "assent hook install codex --dry-run", "assent hook install gemini --project --yes"],
  run: async (context) => (await import("../guard/install.ts")).installHooks(context),
};
