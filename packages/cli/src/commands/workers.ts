import { COMMON } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const workers: Command = {
  name: "workers",
  group: "look",
  looks: true,
  summary: "list the workers that run, and sessions that wait for one",
  guide: "operations.md#workers",
  operands: [],
  options: COMMON,
  examples: ["assent workers --json"],
  run: async (context) => (await import("../desk/workers/list.ts")).listWorkersCommand(context),
};
