import { AGENT, COMMON, HOOK_CHANGES } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const hookUninstall: Command = {
  name: "hook uninstall",
  group: "decide",
  decides: true,
  summary: "stop guarding another agent: remove Assent from its hooks",
  guide: "guard.md",
  operands: [AGENT],
  options: [...HOOK_CHANGES, ...COMMON],
  exits: { 0: "done, or nothing to change", 1: "declined, or a file cannot be changed", 2: "wrong usage, or neither a terminal nor --yes" },
  examples: ["assent hook uninstall claude"],
  run: async (context) => (await import("../guard/install.ts")).uninstallHooks(context),
};
