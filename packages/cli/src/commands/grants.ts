import { COMMON, PAGE } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const grants: Command = {
  name: "grants",
  group: "decide",
  looks: true,
  summary: "list answers that Assent remembers, so it does not ask again",
  operands: [],
  options: [
    { name: "scope", takes: "choice", choices: ["session", "project", "user"], help: "only answers remembered for this scope" },
    { name: "all", takes: "nothing", help: "include expired, used-up and revoked ones" },
    ...PAGE,
    ...COMMON,
  ],
  examples: ["assent grants", "assent grants --scope project --json"],
  run: async (context) => (await import("../desk/grants/list.ts")).listGrants(context),
};
