import type { TaskProcess } from "@assent/core";
import type { TaskBoard, TaskEntry } from "./board.ts";

/** What a command that ends now leaves running is ended with the session, or with this process, if that ends at once. */
export function endWithSession({ deps: { session, processes }, remains }: TaskBoard, { id }: TaskEntry): void {
  const process = session.state.tasks.get(id)?.process;
  if (process && processes) remains.push({ process, released: processes.endWithUs(process) });
}

/** Ends what commands that have ended left running. */
export async function endRemains(board: TaskBoard): Promise<void> {
  const remains = board.remains.splice(0);
  await endSurvivors(
    board,
    remains.map(({ process }) => process),
  );
  for (const { released } of remains) released();
}

/** All of them at once; what cannot be ended is told. */
export async function endSurvivors({ deps: { processes, warn } }: TaskBoard, left: readonly TaskProcess[]): Promise<void> {
  const [first, ...others] = left.flatMap(({ others: more = [], ...process }) => [process, ...more]);
  if (!first || !processes) return;
  try {
    const { survivors } = await processes.endLeftOver({ ...first, others });
    if (survivors.length > 0) warn?.(`of background commands that have ended still runs: process ${survivors.join(", ")}`);
  } catch (error) {
    warn?.(`what background commands left running could not be ended: ${error instanceof Error ? error.message : String(error)}`);
  }
}
