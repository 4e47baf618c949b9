import { COMMON, LOADING } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const tools: Command = {
  name: "tools",
  group: "look",
  looks: true,
  summary: "list the tools a model can call, or show one with its input",
  operands: [{ name: "NAME", required: false }],
  options: [
    { name: "all", takes: "nothing", help: "include tools that are only sometimes offered: ask, resolve, hidden ones" },
    ...LOADING,
    ...COMMON,
  ],
  exits: { 0: "listed", 2: "wrong usage or broken settings", 4: "no such tool" },
  examples: ["assent tools", "assent tools shell"],
  run: async (context) => (await import("../desk/tools/tools.ts")).showTools(context),
};
