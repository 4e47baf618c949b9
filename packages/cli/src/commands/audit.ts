import { COMMON } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const audit: Command = {
  name: "audit",
  group: "look",
  looks: true,
  summary: "show where the record is streamed to, and what was not sent yet",
  details: "The setting audit names the destinations. Runs, workers and the inbox send in the background.",
  guide: "audit.md",
  operands: [],
  options: COMMON,
  exits: { 0: "printed", 1: "the record could not be read", 2: "wrong usage" },
  examples: ["assent audit", "assent audit --json"],
  run: async (context) => (await import("../desk/maintain/audit.ts")).showAudit(context),
};
