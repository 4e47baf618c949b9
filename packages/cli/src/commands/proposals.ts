import { COMMON, PAGE } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const proposals: Command = {
  name: "proposals",
  group: "decide",
  looks: true,
  summary: "list previewed changes that wait to be applied or discarded",
  guide: "proposals.md",
  operands: [],
  options: [
    { name: "session", takes: "text", value: "ID", help: "only from this session" },
    { name: "all", takes: "nothing", help: "include those already applied, discarded or out of date" },
    ...PAGE,
    ...COMMON,
  ],
  examples: ["assent proposals", "assent proposals --all --json"],
  run: async (context) => (await import("../desk/proposals/list.ts")).listProposals(context),
};
