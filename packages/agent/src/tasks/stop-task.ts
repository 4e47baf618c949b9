import { messageOf, ParkRequest } from "@assent/core";
import { notifyWaiting, type TaskBoard, type TaskEntry, type TaskRefusal, writeInOrder } from "./board.ts";
import { closeOpenRequests } from "./close-agent.ts";
import { endTask, type TaskEnding } from "./end-task.ts";
import { outputForNotice } from "./output.ts";
import { reopenTask } from "./resume.ts";

const PATIENCE_MS = 5_000;

/** Cancels a task. Resolves when the request is recorded; the task ends when its run stops, or after 5 s. */
export async function cancelTask(board: TaskBoard, id: string, by: string, reason?: string | undefined): Promise<TaskRefusal | undefined> {
  const entry = board.entries.get(id);
  if (!entry) return { type: "task_stop_not_found", message: `No task "${id}".` };
  const refused = refusalOf(entry);
  if (refused) return refused;
  if (entry.status === "cancelling") return void (await entry.writing); // it was cancelled before
  const { session } = board.deps;
  entry.status = "cancelling";
  entry.watching?.close();
  notifyWaiting(board);
  try {
    const wish = session.draft("task.cancelling", { task: id, by, reason: reason ?? null });
    if (!(await writeInOrder(entry, () => session.record([wish], "full")))) return undefined; // it ended by itself
    if (!entry.command) await closeOpenRequests(session, entry.session, by);
  } catch (error) {
    await stopUnrecordedCommand(board, entry, by);
    return { type: "task_stop_internal_error", message: messageOf(error) };
  }
  entry.controller.abort(by);
  if (entry.command || entry.isRunning || entry.ended)
    endAfterTimeout(board, entry, by); // its run may have stopped meanwhile
  else await discardTask(board, entry, by);
  return undefined;
}

function refusalOf({ id, ended, status, foreground }: TaskEntry): TaskRefusal | undefined {
  if (ended) return { type: "task_stop_not_running", message: `Task "${id}" is not running (${status}).` };
  if (!foreground) return undefined;
  return { type: "task_stop_not_cancellable", message: `Task "${id}" is a foreground agent: it ends with the call that started it.` };
}

function cancelledEnding(board: TaskBoard, entry: TaskEntry, by: string): TaskEnding {
  return { status: "cancelled", result: outputForNotice(board, entry, entry.progress.text()), error: null, partial: true, by };
}

function endAfterTimeout(board: TaskBoard, entry: TaskEntry, by: string): void {
  const giveUp = (): void => void endTask(board, entry, { ...cancelledEnding(board, entry, by), settled: false });
  const stop = board.deps.clock.timer(PATIENCE_MS, giveUp, { keepsAlive: true });
  entry.completion.promise.then(stop, stop);
}

/** Stops a command even if nothing can be recorded. */
async function stopUnrecordedCommand(board: TaskBoard, entry: TaskEntry, by: string): Promise<void> {
  if (!entry.command) return;
  entry.controller.abort(by);
  endAfterTimeout(board, entry, by);
  await entry.completion.promise.catch(() => undefined); // its end cannot be stored either, which is reported
}

/** Ends a paused agent and its open calls. */
export async function discardTask(board: TaskBoard, entry: TaskEntry, by: string): Promise<void> {
  entry.controller.abort(by);
  try {
    entry.opened ??= await reopenTask(board, entry);
    await entry.opened.resumeFromRecord(entry.prompt, entry.controller.signal);
  } catch (error) {
    board.deps.warn?.(`the open calls of task ${entry.id} could not be ended: ${messageOf(error)}`);
  }
  await endTask(board, entry, cancelledEnding(board, entry, by));
}

/** Pauses an agent that waits for a person. Returns false if it does not wait and must be cancelled. */
export async function parkTask(board: TaskBoard, entry: TaskEntry): Promise<boolean> {
  const { opened, status } = entry;
  if (!opened || status !== "running") return false;
  const { calls, questions } = opened.session.state;
  if (questions.size === 0 && ![...calls.values()].some(({ state }) => state === "waiting")) return false;
  entry.controller.abort(new ParkRequest());
  await untilPaused(board, entry);
  entry.watching?.close(); // an answer from now on is for the next process
  return true;
}

/** Resolves when the agent is paused or ended, the store fails, or after 5 s. */
async function untilPaused(board: TaskBoard, entry: TaskEntry): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = (): void => {
    if (entry.status !== "running" || board.failure) resolve();
  };
  const stop = board.deps.clock.timer(PATIENCE_MS, resolve, { keepsAlive: true });
  board.waiting.add(look);
  look();
  await promise;
  board.waiting.delete(look);
  stop();
}
