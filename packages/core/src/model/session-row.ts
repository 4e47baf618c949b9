import type { EventBodies, LedgerEvent } from "./events.ts";
import { namedSession } from "./known-event.ts";
import type { ApprovalRow, SessionRow } from "./ledger-rows.ts";
import type { TaskEventBodies } from "./task/events.ts";
import { isTaskEvent, type TaskRow } from "./task/row.ts";

const CLOSED: Readonly<Record<EventBodies["session.closed"]["reason"], SessionRow["state"]>> = {
  done: "done",
  failed: "failed",
  cancelled: "cancelled",
  parked: "parked",
  queued: "queued",
  limit: "idle",
  reset: "done",
};

/** The session's row after an event; `opened` comes from `openApprovalDelta`. */
export function nextSessionRow(row: SessionRow | undefined, event: LedgerEvent, opened = 0): SessionRow {
  const before = row ?? emptyRow(event);
  return { ...before, ...changeBy(before, event), openApprovals: before.openApprovals + opened, updatedAt: event.at };
}

/** The change in the number of open approvals. */
export function openApprovalDelta(before: ApprovalRow | undefined, after: ApprovalRow): number {
  return Number(after.state === "open") - Number(before?.state === "open");
}

/** An unclosed session without a live writer was interrupted. */
export function sessionRowAt(row: SessionRow, writerLives: boolean): SessionRow {
  return row.state === "running" && !writerLives ? { ...row, state: "interrupted", writer: null } : row;
}

function emptyRow(event: LedgerEvent): SessionRow {
  return {
    id: namedSession(event) ?? event.session,
    cwd: "",
    title: "",
    state: "running",
    model: null,
    turns: 0,
    calls: 0,
    openApprovals: 0,
    unknownOutcomes: 0,
    tasks: [],
    parent: null,
    forked: null,
    group: null,
    startedAt: event.at,
    updatedAt: event.at,
    writer: null,
  };
}

function changeBy(row: SessionRow, event: LedgerEvent): Partial<SessionRow> {
  if (isTaskEvent(event)) return { ...changeTasks(row.tasks, event), ...changeUnknown(row, event) };
  switch (event.type) {
    case "session.created": {
      const { cwd, title, model, parent, forked = null, group = null } = event.body;
      return { cwd, title, model, parent, forked, group, state: "running", startedAt: event.at };
    }
    case "session.opened": {
      const { pid, host, processStart, door } = event.body;
      return { state: "running", writer: { pid, host, processStart, door } };
    }
    case "session.closed":
      return { state: CLOSED[event.body.reason], writer: null };
    case "model.changed":
      return { model: event.body.to };
    case "turn.started":
      return { turns: Math.max(row.turns, event.body.turn) };
    case "call.proposed": // a call without a model has a turn, too
      return { calls: row.calls + 1, turns: Math.max(row.turns, event.body.turn) };
    case "call.ended":
      return event.body.outcome === "unknown" ? { unknownOutcomes: row.unknownOutcomes + 1 } : {};
    default:
      return {};
  }
}

/** The call of a background command has succeeded before. */
function changeUnknown({ unknownOutcomes }: SessionRow, event: LedgerEvent<keyof TaskEventBodies>): Partial<SessionRow> {
  return event.type === "task.ended" && event.body.unknown !== undefined ? { unknownOutcomes: unknownOutcomes + 1 } : {};
}

/** Null: ended. Undefined: unchanged. */
const TASK_STATE: Readonly<Record<string, TaskRow["state"] | null>> = {
  "task.started": "running",
  "task.cancelling": "cancelling",
  "task.paused": "paused",
  "task.resumed": "running",
  "task.ended": null,
};

function changeTasks(tasks: SessionRow["tasks"], { type, body: { task } }: LedgerEvent<keyof TaskEventBodies>): Partial<SessionRow> {
  const state = TASK_STATE[type];
  if (state === undefined) return {};
  if (type === "task.started") return { tasks: [...tasks, { task, state: "running" }] };
  return { tasks: tasks.flatMap((one) => (one.task !== task ? [one] : state === null ? [] : [{ task, state }])) };
}
