import { COMMON } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";
import { TASK_BY, TASK_EXITS, TASK_SESSION } from "./tasks-discard.ts";

export const tasksRelease: Command = {
  name: "tasks release",
  group: "decide",
  decides: true,
  summary: "let a background agent continue although it is unknown whether one of its calls ran",
  details:
    "Check the actual state first. The agent knows that the outcome is unknown; --saying tells it what you found. It continues when you resume the session with --tasks.",
  operands: [{ name: "ID", required: true, listedBy: "assent tasks" }],
  options: [
    TASK_SESSION,
    { name: "saying", takes: "text", value: "TEXT", help: "what actually happened; the agent reads this first" },
    TASK_BY,
    ...COMMON,
  ],
  exits: TASK_EXITS,
  examples: ["assent tasks release t_c1 --saying 'The file was written.'"],
  run: async (context) => (await import("../desk/tasks/settle.ts")).releaseTask(context),
};
