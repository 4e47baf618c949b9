import { ParkRequest } from "@assent/core";
import type { TaskBoard, TaskEntry } from "./board.ts";

const PATIENCE_MS = 5_000;

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
