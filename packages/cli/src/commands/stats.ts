import { COMMON } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const stats: Command = {
  name: "stats",
  group: "look",
  looks: true,
  summary: "show how often people were asked, how long answers took, and which rule would have saved most questions",
  details:
    "Each suggested rule is rehearsed: the asked calls of the record are decided again with it, by the files as they are now. Runs and writes nothing.",
  guide: "rules.md#fewer-questions",
  operands: [],
  options: [{ name: "since", takes: "duration", value: "DURATION", help: "only questions of this long until now, e.g. 30d" }, ...COMMON],
  examples: ["assent stats", "assent stats --since 30d --json"],
  run: async (context) => (await import("../desk/stats/stats.ts")).showStats(context),
};
