import type { TaskBoard, TaskEntry } from "./task-board.ts";

/** What a command that ends now leaves running in its groups is ended with the session. */
export function endWithSession({ deps: { session, processes, warn } }: TaskBoard, { id }: TaskEntry): void {
  const process = session.state.tasks.get(id)?.process;
  if (!process || !processes) return;
  session.onClose(async () => {
    try {
      const { survivors } = await processes.endLeftOver(process);
      if (survivors.length > 0) warn?.(`of task ${id} still runs: process ${survivors.join(", ")}`);
    } catch (error) {
      warn?.(`what task ${id} left running could not be ended: ${error instanceof Error ? error.message : String(error)}`);
    }
  });
}
