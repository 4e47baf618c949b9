import { type JsonObject, type RuntimeHandler, type Session, ToolError } from "@assent/core";
import { listTasks, type TaskBoard, type TaskRefusal, type TaskView, viewTask } from "./board.ts";
import { checkLaunch, type LaunchInput, launchAgent } from "./launch.ts";
import type { AgentNode } from "./open-agent.ts";
import { showOutput } from "./output.ts";
import { sendToTask } from "./send.ts";
import { cancelTask } from "./stop-task.ts";

/** Implements `agent` and the model's task tools. */
export function taskHandlers(board: TaskBoard): Readonly<Record<string, RuntimeHandler>> {
  const { clock } = board.deps;
  const callerOf = ({ id }: Session): AgentNode => {
    const caller = board.nodes.get(id);
    if (!caller) throw new ToolError("Agents cannot be started from here.", "agent_init_failed");
    return caller;
  };
  // The tool's schema has validated the input.
  const agent: RuntimeHandler = async (session, { callId }, { invocation: { input }, ctx: { signal } }) =>
    await launchAgent(board, { caller: callerOf(session), callId, input: input as LaunchInput, signal });
  return {
    agent: Object.assign(agent, {
      refuse: (session: Session, input: JsonObject) => void checkLaunch(board, { caller: callerOf(session), input: input as LaunchInput }),
    }),
    task_list: async () => {
      const all = listTasks(board);
      return all.length === 0 ? "There are no tasks." : all.map((task) => lineOf(task, clock.now())).join("\n");
    },
    task_output: async (session, _call, { invocation: { input }, ctx: { signal } }) => {
      const id = String(input["id"]);
      const entry = board.entries.get(id);
      if (!entry) throw new ToolError(`No task "${id}".`, "task_output_not_found");
      const task = viewTask(board, entry);
      const file = task.outputFile === undefined ? "" : ` All it writes is in ${task.outputFile}.`;
      return `Task ${id} is ${statusOf(task)}.${file}\n\n${await showOutput(board, entry, { session, signal })}`;
    },
    task_stop: async (_session, _call, { invocation: { input } }) => {
      const [id, reason] = [String(input["id"]), input["reason"]];
      refuse(await cancelTask(board, id, "model", typeof reason === "string" ? reason : undefined));
      return `Stopping task ${id}.`;
    },
    task_send: async (_session, _call, { invocation: { input } }) => {
      const id = String(input["id"]);
      refuse(await sendToTask(board, id, String(input["message"]), "model"));
      return `Queued for task ${id}.`;
    },
  };
}

function refuse(refusal: TaskRefusal | undefined): void {
  if (refusal) throw new ToolError(refusal.message, refusal.type);
}

function lineOf(task: TaskView, now: number): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(task.startedAt)) / 1_000));
  return `${task.id}  ${task.agent}: ${task.description}  ${statusOf(task)}  ${seconds}s`;
}

function statusOf({ status, blockedReason, foreground }: TaskView): string {
  return `${status}${blockedReason === undefined ? "" : ` (${blockedReason})`}${foreground ? " (in the foreground)" : ""}`;
}
