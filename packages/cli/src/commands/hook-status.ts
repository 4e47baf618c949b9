import { COMMON } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const hookStatus: Command = {
  name: "hook status",
  group: "look",
  looks: true,
  summary: "show which other agents are guarded, for you and in this directory",
  guide: "guard.md",
  operands: [],
  options: COMMON,
  exits: { 0: "shown", 1: "shown; hooks of a guarded agent are broken, or this project switches them off or can change their calls" },
  examples: ["assent hook status", "assent hook status --json"],
  run: async (context) => (await import("../guard/status.ts")).showHookStatus(context),
};
