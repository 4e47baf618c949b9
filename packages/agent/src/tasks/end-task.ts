import { type EventBodies, LedgerError, messageOf, type TaskStatus } from "@assent/core";
import { taskNotice, taskSummary } from "../notices/task-notice.ts";
import { emitTaskEvent, notifyWaiting, pruneEnded, type TaskBoard, type TaskEntry, viewTask, wakeConversation } from "./board.ts";
import { closeAgent, closeOpenRequests } from "./close-agent.ts";

export type AgentEnd = {
  readonly status: TaskStatus;
  readonly result: string;
  /** Without "Error:". */
  readonly error: string | null;
  readonly partial: boolean;
  readonly remark?: string;
};

export type TaskEnding = AgentEnd & {
  /** False if its run has not stopped yet. */
  readonly settled?: boolean;
  readonly by?: string | null;
  /** The fingerprint of a command with an unknown outcome. */
  readonly unknown?: string;
};

/** Ends a task, once. The end and its notice are one commit. If the store fails, nothing is reported and the run fails. */
export async function endTask(board: TaskBoard, entry: TaskEntry, ending: TaskEnding): Promise<void> {
  if (entry.ended) return;
  entry.ended = true;
  const { deps } = board;
  if (ending.status === "completed") entry.opened?.completed();
  const settled = ending.settled ?? true;
  if (!(await closeSession(board, entry, { ...ending, settled }))) return;
  const { usage } = viewTask(board, entry);
  const { status, result, error, partial, remark, unknown } = ending;
  const remarkField = { ...(remark !== undefined && { remark }) };
  const { id, agent, description, callId, foreground } = entry;
  const ended = { id, agent, description, callId, status, result, error, usage, ...remarkField };
  entry.endedAt = new Date(deps.clock.now()).toISOString();
  if (!foreground) {
    const notice = taskNotice(deps.ids.next("n_"), ended);
    const by = ending.by ?? null;
    const body = {
      task: id,
      status,
      result,
      error,
      partial,
      usage,
      settled,
      by,
      ...remarkField,
      ...(unknown !== undefined && { unknown }),
    };
    if (!(await recordEnd(board, entry, { body, notice }))) return;
  }
  entry.status = status;
  if (!foreground)
    emitTaskEvent(board, { type: "task_notification", task: { ...viewTask(board, entry), usage }, summary: taskSummary(ended) });
  pruneEnded(board);
  entry.completion.resolve();
  notifyWaiting(board);
  if (!foreground) wakeConversation(board);
}

type TaskEndRecord = { readonly body: EventBodies["task.ended"]; readonly notice: EventBodies["notice.queued"] };

async function recordEnd(board: TaskBoard, entry: TaskEntry, { body, notice }: TaskEndRecord): Promise<boolean> {
  const { session } = board.deps;
  try {
    await entry.writing;
    await session.record([session.draft("task.ended", body), session.draft("notice.queued", notice)], "normal");
    return true;
  } catch (error) {
    return reportStoreFailure(board, entry, error);
  }
}

function reportStoreFailure(board: TaskBoard, entry: TaskEntry, error: unknown): false {
  board.failure ??= { error };
  board.deps.warn?.(`the end of task ${entry.id} could not be recorded: ${messageOf(error)}`);
  entry.completion.reject(error);
  notifyWaiting(board);
  return false;
}

const CLOSED = { completed: ["done", 0], failed: ["failed", 1], cancelled: ["cancelled", 130] } as const;

/** Closes the session of an agent. Returns false if that could not be stored. */
async function closeSession(board: TaskBoard, entry: TaskEntry, { status, settled }: TaskEnding): Promise<boolean> {
  const { session, warn } = board.deps;
  if (entry.command) return true; // a command has no session
  board.nodes.delete(entry.session);
  try {
    if (settled && entry.opened) await closeAgent(board, entry.opened, CLOSED[status]);
    else await closeOpenRequests(session, entry.session, "runtime"); // its run still holds it, or it was never built
    return true;
  } catch (error) {
    if (error instanceof LedgerError) return reportStoreFailure(board, entry, error); // the next process closes it
    warn?.(`the session of task ${entry.id} could not be closed: ${messageOf(error)}`);
    return true;
  }
}
