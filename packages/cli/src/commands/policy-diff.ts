import { COMMON, WORKSPACE } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const policyDiff: Command = {
  name: "policy diff",
  group: "look",
  looks: true,
  summary: "show how the rules of two policy files differ",
  details: "With --ledger, also decides every recorded call again under both files. Runs and writes nothing.",
  guide: "rules.md",
  operands: [
    { name: "OLD", required: true },
    { name: "NEW", required: true },
  ],
  options: [{ name: "ledger", takes: "nothing", help: "also list recorded calls that NEW would decide differently" }, WORKSPACE, ...COMMON],
  exits: { 0: "shown, whether they differ or not", 1: "the record could not be read", 2: "wrong usage, or a broken file" },
  examples: ["assent policy diff old.json new.json", "assent policy diff old.json new.json --ledger"],
  run: async (context) => (await import("../desk/policy/diff.ts")).diffPolicies(context),
};
