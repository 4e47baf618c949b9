import { defineTool, type Tool } from "@assent/core";
import { description } from "../description.ts";
import { object, optional, string } from "../schema/fields.ts";

const ID = string({ description: "The task's id.", minLength: 1, maxLength: 128 });

/** Lists the session's agents; the runtime is its body. */
export function taskListTool(): Tool {
  return defineTool({
    name: "task_list",
    title: "List tasks",
    description: description("task-list"),
    kind: "think",
    input: object({}),
    runtimeHandler: "task_list",
    pollSafe: true,
    describe: () => "List the tasks",
    permission: () => "allow",
  });
}

/** Shows what a task has said; the runtime is its body. */
export function taskOutputTool(): Tool {
  return defineTool({
    name: "task_output",
    title: "Task output",
    description: description("task-output"),
    kind: "think",
    input: object({ id: ID }),
    runtimeHandler: "task_output",
    pollSafe: true,
    describe: ({ id }) => `Look at task ${id}`,
    permission: () => "allow",
  });
}

/** Ends what the model started; the runtime is its body. */
export function taskStopTool(): Tool {
  return defineTool({
    name: "task_stop",
    title: "Stop task",
    description: description("task-stop"),
    kind: "think",
    input: object({ id: ID, reason: optional(string({ description: "Why, in a sentence.", maxLength: 2_000 })) }),
    runtimeHandler: "task_stop",
    describe: ({ id }) => `Stop task ${id}`,
    permission: () => "allow",
  });
}

/** Says something to what the model started; the runtime is its body. */
export function taskSendTool(): Tool {
  return defineTool({
    name: "task_send",
    title: "Message to task",
    description: description("task-send"),
    kind: "think",
    input: object({ id: ID, message: string({ description: "What to say.", minLength: 1, maxLength: 20_000 }) }),
    runtimeHandler: "task_send",
    describe: ({ id, message }) => `Tell task ${id}: ${message}`,
    permission: () => "allow",
  });
}
