import type { LedgerEvent } from "../events.ts";
import { type ScheduleEventBodies, type TaskEventBodies, type TaskProcess, withEarlier } from "./events.ts";

/** A task that has not ended. */
export type TaskRow = TaskEventBodies["task.started"] & {
  readonly state: "running" | "cancelling" | "paused";
  readonly startedAt: string;
  readonly paused: Pick<TaskEventBodies["task.paused"], "reason" | "blocked"> | null;
  /** With earlier ones in `others`. */
  readonly process?: TaskProcess;
};

/** A schedule that has not been removed. */
export type ScheduleRow = ScheduleEventBodies["schedule.created"] & { readonly lastDue: string | null };

export type TaskEvent = LedgerEvent<keyof TaskEventBodies>;
export type ScheduleEvent = LedgerEvent<keyof ScheduleEventBodies>;

export function isTaskEvent(event: LedgerEvent): event is TaskEvent {
  return event.type.startsWith("task.");
}

export function isScheduleEvent(event: LedgerEvent): event is ScheduleEvent {
  return event.type.startsWith("schedule.");
}

/** The task after this event: null if ended, undefined if the event is illegal. */
export function nextTask(row: TaskRow | undefined, event: TaskEvent): TaskRow | null | undefined {
  if (event.type === "task.started") return row ? undefined : { ...event.body, state: "running", startedAt: event.at, paused: null };
  if (!row) return undefined;
  switch (event.type) {
    case "task.message":
      return row;
    case "task.process":
      return row.command ? { ...row, process: withEarlier(event.body, row.process) } : undefined;
    case "task.cancelling":
      return { ...row, state: "cancelling", paused: null };
    case "task.paused":
      return { ...row, state: "paused", paused: { reason: event.body.reason, blocked: event.body.blocked } };
    case "task.resumed":
      return row.state === "paused" ? { ...row, state: "running", paused: null } : undefined;
    case "task.ended":
      return null;
    default:
      return event satisfies never;
  }
}

/** The schedule after this event: null if removed, undefined if the event is illegal. */
export function nextSchedule(row: ScheduleRow | undefined, event: ScheduleEvent): ScheduleRow | null | undefined {
  if (event.type === "schedule.created") return row ? undefined : { ...event.body, lastDue: null };
  if (!row) return undefined;
  return event.type === "schedule.removed" ? null : { ...row, lastDue: event.body.due };
}
