import { COMMON, WORKSPACE } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const policyCheck: Command = {
  name: "policy check",
  group: "look",
  looks: true,
  summary: "check settings files: syntax, keys, rules and their examples",
  details: "Without FILE, checks all settings that apply here. A FILE is checked as --policy would read it.",
  guide: "settings.md",
  operands: [{ name: "FILE", required: false, repeats: true }],
  options: [WORKSPACE, ...COMMON],
  exits: { 0: "no problems", 1: "problems, including warnings", 2: "wrong usage" },
  examples: ["assent policy check", "assent policy check .assent/settings.json team.json"],
  run: async (context) => (await import("../desk/policy/check.ts")).checkPolicy(context),
};
