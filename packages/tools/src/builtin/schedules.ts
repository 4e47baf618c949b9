import { defineTool, type Tool } from "@assent/core";
import { boolean, object, optional, string } from "../schema/fields.ts";
import { listedFields, type ToolListing } from "../tool-listing.ts";

const CREATE = {
  at: optional(string({ description: "A point in time, ISO 8601 with offset. Give this or every." })),
  every: optional(string({ description: "An interval of 30s to 24h, such as 90s, 10m or 2h. Give this or at." })),
  prompt: string({ description: "The prompt you receive when it fires.", minLength: 1, maxLength: 10_000 }),
  recurring: optional(boolean({ description: "false: deleted after it fires once. Default true for every." })),
  durable: optional(boolean({ description: "true: survives restarts. Default false: it ends with this run." })),
};

export const SCHEDULE_CREATE: ToolListing = { name: "schedule_create", title: "Create a schedule", kind: "other" };

/** Sends the model a prompt later or repeatedly. The runtime implements it. */
export function scheduleCreateTool(): Tool {
  return defineTool({
    ...listedFields(SCHEDULE_CREATE),
    input: object(CREATE),
    runtimeHandler: "schedule_create",
    check: ({ at, every }) =>
      (at === undefined) === (every === undefined) ? "params must have exactly one of 'at' and 'every'" : undefined,
    describe: ({ at, every, prompt }) => `Schedule ${at === undefined ? `every ${every}` : `at ${at}`}: ${prompt}`,
  });
}

export const SCHEDULE_LIST: ToolListing = { name: "schedule_list", title: "List schedules", kind: "think" };

/** Lists schedules. The runtime implements it. */
export function scheduleListTool(): Tool {
  return defineTool({
    ...listedFields(SCHEDULE_LIST),
    input: object({}),
    runtimeHandler: "schedule_list",
    pollSafe: true,
    describe: () => "List the schedules",
    permission: () => "allow",
  });
}

export const SCHEDULE_DELETE: ToolListing = { name: "schedule_delete", title: "Delete a schedule", kind: "think" };

/** Deletes a schedule. Never asks, because only the model's own schedules are affected. */
export function scheduleDeleteTool(): Tool {
  return defineTool({
    ...listedFields(SCHEDULE_DELETE),
    input: object({ id: string({ description: "The schedule's id.", minLength: 1, maxLength: 64 }) }),
    runtimeHandler: "schedule_delete",
    describe: ({ id }) => `Delete schedule ${id}`,
    permission: () => "allow",
  });
}
