import type { LedgerEvent, TaskRow } from "@assent/core";
import type { WireMessage } from "./wire-message.ts";

type Known = Pick<TaskRow, "task" | "agent" | "description" | "call" | "session">;

const LONGEST_DESCRIPTION = 200;

/** Background agents as messages. Begins with those that were there already. */
export function taskLines(open: Iterable<TaskRow>): (event: LedgerEvent) => WireMessage | undefined {
  const known = new Map<string, Known>();
  for (const row of open) known.set(row.task, row);
  return (event) => {
    if (event.type === "task.started") known.set(event.body.task, event.body);
    const task = "task" in event.body && typeof event.body.task === "string" ? known.get(event.body.task) : undefined;
    if (event.type === "task.ended") known.delete(event.body.task);
    return task && taskLine(task, event);
  };
}

function taskLine({ task, call, agent, description, session }: Known, event: LedgerEvent): WireMessage | undefined {
  const about = { task_id: task, ...(call !== null && { tool_use_id: call }) };
  if (event.type === "task.started") return { type: "system", subtype: "task_started", ...about, description, agent };
  if (event.type === "task.paused") {
    const { reason, blocked } = event.body;
    return { type: "system", subtype: "task_paused", ...about, reason, blocked };
  }
  if (event.type !== "task.ended") return undefined;
  const { status, usage, remark } = event.body;
  const summary = `${agent}: ${description.slice(0, LONGEST_DESCRIPTION)} — ${status}${remark === undefined ? "" : ` (${remark})`}`;
  const used = { total_tokens: usage.totalTokens, tool_uses: usage.toolUses, duration_ms: usage.durationMs };
  return { type: "system", subtype: "task_notification", ...about, status, summary, output_session: session, usage: used };
}
