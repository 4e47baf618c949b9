import { COMMON } from "../command-line/options.ts";
import type { Command, OptionSpec } from "../command-line/spec.ts";

export const TASK_SESSION: OptionSpec = {
  name: "session",
  takes: "text",
  value: "ID",
  help: "the session of the task, if several sessions have a task with this id",
};
export const TASK_BY: OptionSpec = {
  name: "by",
  takes: "text",
  value: "NAME",
  help: "your name, recorded next to your operating-system user",
};
export const TASK_EXITS: Readonly<Record<number, string>> = {
  0: "done",
  1: "refused: a running process has the session, this does not help the task, or the record could not be written",
  2: "wrong usage, or several sessions have such a task",
  4: "no such task",
};

export const tasksDiscard: Command = {
  name: "tasks discard",
  group: "decide",
  decides: true,
  summary: "end a paused background agent and close what it asked; the model learns that it was cancelled",
  operands: [{ name: "ID", required: true, listedBy: "assent tasks" }],
  options: [TASK_SESSION, { name: "reason", takes: "text", value: "TEXT", help: "recorded with it" }, TASK_BY, ...COMMON],
  exits: TASK_EXITS,
  examples: ["assent tasks discard t_c1", "assent tasks discard t_c1 --session s_3kq7mz"],
  run: async (context) => (await import("../desk/tasks/settle.ts")).discardTask(context),
};
