import type { Clock, LedgerEvent, Session, TaskRow } from "@assent/core";
import type { WireMessage } from "./message.ts";

type KnownTask = Pick<TaskRow, "task" | "agent" | "description" | "call" | "session">;

const LONGEST_DESCRIPTION = 200;

/** Turns task events into messages, starting with the open tasks. */
export function taskLines(open: Iterable<TaskRow>): (event: LedgerEvent) => WireMessage | undefined {
  const known = new Map<string, KnownTask>();
  for (const row of open) known.set(row.task, row);
  return (event) => {
    if (event.type === "task.started") known.set(event.body.task, event.body);
    const task = "task" in event.body && typeof event.body.task === "string" ? known.get(event.body.task) : undefined;
    if (event.type === "task.ended") known.delete(event.body.task);
    return task && taskLine(task, event);
  };
}

function taskLine({ task, call, agent, description, session }: KnownTask, event: LedgerEvent): WireMessage | undefined {
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

/** Reports the progress of background agents: one message for every call of an agent. */
export type TaskProgress = {
  /** Reads the agents that an earlier process left. */
  readonly attend: (session: Pick<Session, "state">) => void;
  readonly event: (event: LedgerEvent) => void;
};

type RunningTask = KnownTask & { readonly since: number; tokens: number; calls: number };

export function taskProgress(clock: Clock, tell: (line: WireMessage) => void): TaskProgress {
  const bySession = new Map<string, RunningTask>();
  const begin = (task: KnownTask): void => {
    if (task.session !== null) bySession.set(task.session, { ...task, since: clock.now(), tokens: 0, calls: 0 });
  };
  return {
    attend: ({ state }) => {
      for (const row of state.tasks.values()) begin(row);
    },
    event: (event) => {
      if (event.type === "task.started") begin(event.body);
      const task = bySession.get(event.session);
      if (task && event.type === "message.assistant")
        task.tokens += (event.body.usage?.inputTokens ?? 0) + (event.body.usage?.outputTokens ?? 0);
      if (!task || event.type !== "call.proposed" || event.body.index < 0) return; // nested calls belong to the tool that makes them
      task.calls += 1;
      tell(progressLine(task, event.body.tool, clock.now() - task.since));
    },
  };
}

function progressLine({ task, call, agent, description, tokens, calls }: RunningTask, tool: string, durationMs: number): WireMessage {
  return {
    type: "system",
    subtype: "task_progress",
    task_id: task,
    ...(call !== null && { tool_use_id: call }),
    description,
    agent,
    subagent_type: agent,
    last_tool_name: tool,
    usage: { total_tokens: tokens, tool_uses: calls, duration_ms: Math.max(0, durationMs) },
  };
}
