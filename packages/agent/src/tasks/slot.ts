import { ToolError } from "@assent/core";
import { changed, runningOf, type TaskBoard } from "./board.ts";

const USABLE_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Takes a slot before anything else; the returned function gives it back, once the task itself is in the registry or nothing came of it. */
export function reserve(board: TaskBoard): () => void {
  const most = board.deps.maxRunning();
  if (runningOf(board).length + board.reserved >= most) {
    const text = `${most} background tasks are already running. Wait for one to end, stop one, or run in the foreground.`;
    throw new ToolError(text, "task_limit");
  }
  board.reserved += 1;
  return () => {
    board.reserved -= 1;
    changed(board);
  };
}

/** After the launching call where that can be a name and is free, else at random: never after the clock. From now on it is taken. */
export function takeId({ ids, deps }: TaskBoard, callId: string): string {
  const named = `t_${callId}`;
  const id = USABLE_ID.test(callId) && !ids.has(named) ? named : deps.ids.next("t_");
  ids.add(id);
  return id;
}

/** What is started in a task must not outlive it unseen. */
export function refuseInTask(background: boolean): void {
  if (background) throw new ToolError("A background task cannot start background tasks.", "task_nested");
}
