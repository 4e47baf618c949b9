import { defineTool, type Tool } from "@assent/core";
import { object, optional, string } from "../schema/fields.ts";
import { listedFields, type ToolListing } from "../tool-listing.ts";

const ID = string({ description: "The task's id.", minLength: 1, maxLength: 128 });

export const TASK_LIST: ToolListing = { name: "task_list", title: "List tasks", kind: "think" };

/** Lists the session's tasks. The runtime implements it. */
export function taskListTool(): Tool {
  return defineTool({
    ...listedFields(TASK_LIST),
    input: object({}),
    runtimeHandler: "task_list",
    pollSafe: true,
    describe: () => "List the tasks",
    permission: () => "allow",
  });
}

export const TASK_OUTPUT: ToolListing = { name: "task_output", title: "Task output", kind: "think" };

/** Shows a task's output. The runtime implements it. */
export function taskOutputTool(): Tool {
  return defineTool({
    ...listedFields(TASK_OUTPUT),
    input: object({ id: ID }),
    runtimeHandler: "task_output",
    pollSafe: true,
    describe: ({ id }) => `Look at task ${id}`,
    permission: () => "allow",
  });
}

export const TASK_STOP: ToolListing = { name: "task_stop", title: "Stop task", kind: "think" };

/** Stops a task. The runtime implements it. */
export function taskStopTool(): Tool {
  return defineTool({
    ...listedFields(TASK_STOP),
    input: object({ id: ID, reason: optional(string({ description: "Why, in a sentence.", maxLength: 2_000 })) }),
    runtimeHandler: "task_stop",
    describe: ({ id }) => `Stop task ${id}`,
    permission: () => "allow",
  });
}

export const TASK_SEND: ToolListing = { name: "task_send", title: "Message to task", kind: "think" };

/** Sends a message to a task. The runtime implements it. */
export function taskSendTool(): Tool {
  return defineTool({
    ...listedFields(TASK_SEND),
    input: object({ id: ID, message: string({ description: "What to say.", minLength: 1, maxLength: 20_000 }) }),
    runtimeHandler: "task_send",
    describe: ({ id, message }) => `Tell task ${id}: ${message}`,
    permission: () => "allow",
  });
}
