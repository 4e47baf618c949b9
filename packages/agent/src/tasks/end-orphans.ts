import type { SessionRow } from "@assent/core";
import { closeOpen } from "./close-open.ts";
import { endLeft } from "./end-left.ts";
import type { TaskBoard } from "./task-board.ts";

/** Agents that a call waited for when their process ended have nobody to report to: what they left open is ended, and their sessions are closed. */
export async function endOrphans(board: TaskBoard): Promise<void> {
  const { session } = board.deps;
  const agents = [...board.entries.values()].filter(({ command }) => !command); // a command has no session of its own
  const tasks = new Set(agents.filter(({ ended }) => !ended).map((entry) => entry.session)); // of one that was given up the session is left
  const open = await session.ledger.pending("sessions", { limit: 1_000 });
  const family = new Set([session.id, ...agents.map((entry) => entry.session)]);
  for (const row of open) {
    if (tasks.has(row.id) || row.parent === null || !family.has(row.parent.session)) continue;
    family.add(row.id); // a session is older than those that its agents start
    await endOrphan(board, row, row.parent);
  }
}

async function endOrphan(board: TaskBoard, { id, model, title }: SessionRow, parent: NonNullable<SessionRow["parent"]>): Promise<void> {
  const { task, call } = parent;
  try {
    await closeOpen(board.deps.session, id, "runtime");
  } catch (error) {
    board.deps.warn?.(`what session ${id} asks could not be closed: ${error instanceof Error ? error.message : String(error)}`);
    return;
  }
  await endLeft(board, { session: id, task, call, description: title, model, background: false, closed: ["cancelled", 130] });
}
