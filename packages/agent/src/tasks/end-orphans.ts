import type { SessionRow } from "@assent/core";
import { closeOpen } from "./close-open.ts";
import { openAgent } from "./open-agent.ts";
import type { TaskBoard } from "./task-board.ts";

/** Agents that a call waited for when their process ended have nobody to report to: what they left open is ended, and their sessions are closed. */
export async function endOrphans(board: TaskBoard): Promise<void> {
  const { session } = board.deps;
  const tasks = new Set([...board.entries.values()].map((entry) => entry.session));
  const open = await session.ledger.pending("sessions", { limit: 1_000 });
  const family = new Set([session.id, ...tasks]);
  for (const row of open) {
    if (tasks.has(row.id) || row.parent === null || !family.has(row.parent.session)) continue;
    family.add(row.id); // a session is older than those that its agents start
    await endOrphan(board, row);
  }
}

async function endOrphan(board: TaskBoard, { id, parent, model, title }: SessionRow): Promise<void> {
  const { deps } = board;
  try {
    await closeOpen(deps.session, id, "runtime");
    const about = { task: parent?.task ?? "", call: parent?.call ?? "", description: title, model, mode: "plan" };
    const opened = await openAgent(deps, { ...about, definition: undefined, background: false, parent: board.main }, id);
    await opened.takeUp("", AbortSignal.abort());
    await opened.close("cancelled", 130);
  } catch (error) {
    deps.warn?.(`what session ${id} of an agent left open could not be ended: ${error instanceof Error ? error.message : String(error)}`);
  }
}
