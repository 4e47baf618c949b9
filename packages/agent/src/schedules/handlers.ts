import { type RuntimeHandler, type ScheduleRow, ToolError } from "@assent/core";
import { nextDue } from "./due-times.ts";
import { isRefusal, type ScheduleInput } from "./input.ts";
import type { Schedules } from "./schedules.ts";

/** The bodies of the model's own tools for schedules. */
export function scheduleHandlers({
  create,
  list,
  remove,
}: Pick<Schedules, "create" | "list" | "remove">): Readonly<Record<string, RuntimeHandler>> {
  return {
    schedule_create: async (_session, _call, { invocation: { input } }) => {
      // Parsing: the tool's own schema has accepted it.
      const made = await create(input as ScheduleInput);
      if (isRefusal(made)) throw new ToolError(made.message, made.type);
      return `Schedule ${made.schedule} fires ${whenOf(made)}.`;
    },
    schedule_list: async () => {
      const rows = list();
      return rows.length === 0 ? "There are no schedules." : rows.map(lineOf).join("\n");
    },
    schedule_delete: async (_session, _call, { invocation: { input } }) => {
      const id = String(input["id"]);
      if (await remove(id)) return `Schedule ${id} is deleted.`;
      throw new ToolError(`No schedule "${id}".`, "schedule_invalid");
    },
  };
}

function whenOf(row: ScheduleRow): string {
  const next = nextDue(row);
  const first = next === undefined ? "never again" : `at ${new Date(next).toISOString()}`;
  return row.everyMs !== null && row.recurring ? `${first}, then every ${row.everyMs / 1_000} s` : `${first}, once`;
}

function lineOf(row: ScheduleRow): string {
  return `${row.schedule} ${whenOf(row)}${row.durable ? ", kept over restarts" : ""}: ${row.prompt}`;
}
