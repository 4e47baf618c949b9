import { COMMON, PAGE, RAW } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const approvals: Command = {
  name: "approvals",
  group: "decide",
  looks: true,
  summary: "list everything that waits for your answer, oldest first",
  operands: [],
  options: [
    { name: "session", takes: "text", value: "ID", help: "only from this session" },
    { name: "tool", takes: "text", value: "NAME", help: "only for this tool" },
    { name: "all", takes: "nothing", help: "include answered and closed ones" },
    RAW,
    ...PAGE,
    ...COMMON,
  ],
  examples: ["assent approvals", "assent approvals --all --json"],
  run: async (context) => (await import("../desk/approvals/list.ts")).listApprovals(context),
};
