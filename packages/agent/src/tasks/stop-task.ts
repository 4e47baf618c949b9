import { ParkRequest } from "@assent/core";
import { changed, type TaskBoard, type TaskEntry, type TaskRefusal, writeInOrder } from "./board.ts";
import { closeOpen } from "./close-agent.ts";
import { type Ending, endTask } from "./end-task.ts";
import { toldOutput } from "./output.ts";
import { reopenTask } from "./resume.ts";

const PATIENCE_MS = 5_000;

/** Wants a task to end. Resolves when that is on record; the task ends when its body has come to rest, or after 5 s. */
export async function cancelTask(board: TaskBoard, id: string, { by, reason }: Cancelling): Promise<TaskRefusal | undefined> {
  const entry = board.entries.get(id);
  if (!entry) return { type: "task_stop_not_found", message: `No task "${id}".` };
  const refused = refusalOf(entry);
  if (refused) return refused;
  if (entry.status === "cancelling") return void (await entry.writing); // the wish of who came first
  const { session } = board.deps;
  entry.status = "cancelling";
  entry.watching?.close();
  changed(board);
  try {
    const wish = session.draft("task.cancelling", { task: id, by, reason: reason ?? null });
    if (!(await writeInOrder(entry, () => session.record([wish], "full")))) return undefined; // it came to its end by itself
    if (!entry.command) await closeOpen(session, entry.session, by);
  } catch (error) {
    await endUnrecorded(board, entry, by);
    return { type: "task_stop_internal_error", message: error instanceof Error ? error.message : String(error) };
  }
  entry.controller.abort(by);
  if (entry.command || entry.hasBody || entry.ended)
    giveUpLater(board, entry, by); // a body that came to rest meanwhile is ended already
  else await discard(board, entry, by);
  return undefined;
}

function refusalOf({ id, ended, status, foreground }: TaskEntry): TaskRefusal | undefined {
  if (ended) return { type: "task_stop_not_running", message: `Task "${id}" is not running (${status}).` };
  if (!foreground) return undefined;
  return { type: "task_stop_not_cancellable", message: `Task "${id}" is a foreground agent: it ends with the call that started it.` };
}

/** Who wants it, and why. */
export type Cancelling = { readonly by: string; readonly reason?: string | undefined };

function cancelled(board: TaskBoard, entry: TaskEntry, by: string): Ending {
  return { status: "cancelled", result: toldOutput(board, entry, entry.progress.text()), error: null, partial: true, by };
}

function giveUpLater(board: TaskBoard, entry: TaskEntry, by: string): void {
  const giveUp = (): void => void endTask(board, entry, { ...cancelled(board, entry, by), settled: false });
  const stop = board.deps.clock.timer(PATIENCE_MS, giveUp, { keepsAlive: true });
  entry.over.promise.then(stop, stop);
}

/** A record that takes nothing more leaves no command running. */
async function endUnrecorded(board: TaskBoard, entry: TaskEntry, by: string): Promise<void> {
  if (!entry.command) return;
  entry.controller.abort(by);
  giveUpLater(board, entry, by);
  await entry.over.promise.catch(() => undefined); // its end cannot be stored either, and that is told
}

/** A paused one has no body: the calls it left open are ended with it. */
export async function discard(board: TaskBoard, entry: TaskEntry, by: string): Promise<void> {
  entry.controller.abort(by);
  try {
    entry.opened ??= await reopenTask(board, entry);
    await entry.opened.takeUp(entry.prompt, entry.controller.signal);
  } catch (error) {
    board.deps.warn?.(`what task ${entry.id} left open could not be ended: ${error instanceof Error ? error.message : String(error)}`);
  }
  await endTask(board, entry, cancelled(board, entry, by));
}

/** Pauses an agent that waits for a person, so that a later process can continue it. False: it does not wait, and must be ended. */
export async function parkTask(board: TaskBoard, entry: TaskEntry): Promise<boolean> {
  const { opened, status } = entry;
  if (!opened || status !== "running") return false;
  const { calls, questions } = opened.session.state;
  if (questions.size === 0 && ![...calls.values()].some(({ state }) => state === "waiting")) return false;
  entry.controller.abort(new ParkRequest());
  await untilPaused(board, entry);
  entry.watching?.close(); // an answer that comes now is for the next process
  return true;
}

/** Resolves when the agent is paused or has ended, when the store fails, or after 5 s. */
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
