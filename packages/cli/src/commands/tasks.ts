import { COMMON } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const tasks: Command = {
  name: "tasks",
  group: "look",
  looks: true,
  summary: "list unfinished background agents and commands, and what blocks them",
  guide: "agents.md#its-life",
  operands: [],
  options: [{ name: "session", takes: "text", value: "ID", help: "only from this session" }, ...COMMON],
  examples: ["assent tasks", "assent tasks --session s_3kq7mz --json"],
  run: async (context) => (await import("../desk/tasks/list.ts")).listTasks(context),
};
