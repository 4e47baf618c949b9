import { COMMON } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const help: Command = {
  name: "help",
  group: "help",
  looks: true,
  summary: "show help for a command",
  operands: [
    { name: "COMMAND", required: false },
    { name: "SUBCOMMAND", required: false },
  ],
  options: COMMON,
  examples: ["assent help approve"],
  run: async (context) => (await import("../command-line/help.ts")).printHelp(context),
};
