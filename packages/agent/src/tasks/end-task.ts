import { type EventBodies, LedgerError, type TaskStatus } from "@assent/core";
import { taskNotice, taskSummary } from "../notices/task-notice.ts";
import { changed, prune, type TaskBoard, type TaskEntry, tell, viewOf, wake } from "./board.ts";
import { closeAgent, closeOpen } from "./close-agent.ts";

/** How an agent's run ended, as its notice tells it. */
export type AgentEnd = {
  readonly status: TaskStatus;
  readonly result: string;
  /** Without "Error:". */
  readonly error: string | null;
  readonly partial: boolean;
  readonly remark?: string;
};

/** How a task comes to its end. */
export type Ending = AgentEnd & {
  /** False: its body has not come to rest. */
  readonly settled?: boolean;
  /** Who ended it, where it did not end by itself. */
  readonly by?: string | null;
  /** The fingerprint of a command that nobody knows the outcome of. */
  readonly unknown?: string;
};

/**
 * The only way out: a second call changes nothing. The end and its notice are one commit; then memory, then whoever looks on, then the conversation.
 * Where they cannot be stored, nobody is told: the store has failed, and with it the run.
 */
export async function endTask(board: TaskBoard, entry: TaskEntry, ending: Ending): Promise<void> {
  if (entry.ended) return;
  entry.ended = true;
  const { deps } = board;
  if (ending.status === "completed") entry.opened?.completed();
  const settled = ending.settled ?? true;
  if (!(await closeSession(board, entry, { ...ending, settled }))) return;
  const { usage } = viewOf(board, entry);
  const { status, result, error, partial, remark, unknown } = ending;
  const said = { ...(remark !== undefined && { remark }) };
  const { id, agent, description, callId, foreground } = entry;
  const ended = { id, agent, description, callId, status, result, error, usage, ...said };
  entry.endedAt = new Date(deps.clock.now()).toISOString();
  if (!foreground) {
    const notice = taskNotice(deps.ids.next("n_"), ended);
    const by = ending.by ?? null;
    const body = { task: id, status, result, error, partial, usage, settled, by, ...said, ...(unknown !== undefined && { unknown }) };
    if (!(await store(board, entry, { body, notice }))) return;
  }
  entry.status = status;
  if (!foreground) tell(board, { type: "task_notification", task: { ...viewOf(board, entry), usage }, summary: taskSummary(ended) });
  prune(board);
  entry.over.resolve();
  changed(board);
  if (!foreground) wake(board);
}

type Storing = { readonly body: EventBodies["task.ended"]; readonly notice: EventBodies["notice.queued"] };

async function store(board: TaskBoard, entry: TaskEntry, { body, notice }: Storing): Promise<boolean> {
  const { session } = board.deps;
  try {
    await entry.writing;
    await session.record([session.draft("task.ended", body), session.draft("notice.queued", notice)], "normal");
    return true;
  } catch (error) {
    return unstored(board, entry, error);
  }
}

/** The store has failed, and with it the run: nobody is told. */
function unstored(board: TaskBoard, entry: TaskEntry, error: unknown): false {
  board.failure ??= { error };
  board.deps.warn?.(`the end of task ${entry.id} could not be recorded: ${error instanceof Error ? error.message : String(error)}`);
  entry.over.reject(error);
  changed(board);
  return false;
}

const CLOSED = { completed: ["done", 0], failed: ["failed", 1], cancelled: ["cancelled", 130] } as const;

/** What its session still asks is closed, and its record ends. False: that could not be stored. */
async function closeSession(board: TaskBoard, entry: TaskEntry, { status, settled }: Ending): Promise<boolean> {
  const { session, warn } = board.deps;
  if (entry.command) return true; // it has none
  board.nodes.delete(entry.session);
  try {
    if (settled && entry.opened) await closeAgent(board, entry.opened, CLOSED[status]);
    else await closeOpen(session, entry.session, "runtime"); // its body still holds it, or it was never built
    return true;
  } catch (error) {
    if (error instanceof LedgerError) return unstored(board, entry, error); // its record has no end: the next process gives it one
    warn?.(`the session of task ${entry.id} could not be closed: ${error instanceof Error ? error.message : String(error)}`);
    return true;
  }
}
