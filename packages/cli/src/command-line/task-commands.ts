import { COMMON } from "./options.ts";
import type { CommandSpec, OptionSpec } from "./spec.ts";

const OF_SESSION: OptionSpec = {
  name: "session",
  takes: "text",
  value: "ID",
  says: "the task of this session, where several have one of this id",
};
const BY: OptionSpec = {
  name: "by",
  takes: "text",
  value: "NAME",
  says: "your name, recorded as a claim beside the operating-system user",
};

const EXITS: Readonly<Record<number, string>> = {
  0: "done",
  1: "refused: a live process has the session, the task cannot be helped this way, or the store failed",
  2: "usage, or several sessions have such a task",
  4: "no such task",
};

/** The commands about background agents that a process left. */
export const TASK_COMMANDS: readonly CommandSpec[] = [
  {
    name: "tasks",
    group: "look",
    looks: true,
    says: "list background agents that have not ended, and what keeps them from going on",
    operands: [],
    options: [{ name: "session", takes: "text", value: "ID", says: "only of this session" }, ...COMMON],
    examples: ["assent tasks", "assent tasks --session s_3kq7mz --json"],
    load: () => import("../commands/tasks.ts"),
  },
  {
    name: "tasks discard",
    group: "decide",
    decides: true,
    says: "end a paused background agent; what it asked is closed, and the model is told that it was cancelled",
    operands: [{ name: "ID", required: true, listedBy: "assent tasks" }],
    options: [OF_SESSION, { name: "reason", takes: "text", value: "TEXT", says: "recorded with it" }, BY, ...COMMON],
    exits: EXITS,
    examples: ["assent tasks discard t_c1", "assent tasks discard t_c1 --session s_3kq7mz"],
    load: () => import("../commands/tasks-discard.ts"),
  },
  {
    name: "tasks release",
    group: "decide",
    decides: true,
    says: "let a background agent go on though nobody knows whether a call of it ran",
    more: "Look at the present state first. The agent knows that the outcome is unknown; --saying tells it what you found. It goes on when the session is resumed with --tasks.",
    operands: [{ name: "ID", required: true, listedBy: "assent tasks" }],
    options: [
      OF_SESSION,
      { name: "saying", takes: "text", value: "TEXT", says: "what happened, told to the agent before anything else" },
      BY,
      ...COMMON,
    ],
    exits: EXITS,
    examples: ["assent tasks release t_c1 --saying 'The file was written.'"],
    load: () => import("../commands/tasks-release.ts"),
  },
];
