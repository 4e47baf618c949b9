import { LedgerError, type SessionRow } from "@assent/core";
import type { TaskBoard } from "./board.ts";
import { closeOpen, type SessionEnd } from "./close-agent.ts";
import { openAgent } from "./open-agent.ts";

/** An agent's session that an earlier process left, and how it is to be closed. */
export type LeftSession = {
  readonly session: string;
  readonly task: string;
  readonly call: string;
  readonly description: string;
  readonly model: string | null;
  readonly background: boolean;
  readonly closed: SessionEnd;
};

/** Puts in order what ran in an agent's session when its process ended, as in any session; the agent itself does not go on. */
export async function endLeft({ deps, main }: TaskBoard, { session, closed, ...about }: LeftSession): Promise<void> {
  const opened = await openAgent(deps, { ...about, mode: "plan", definition: undefined, parent: main }, session);
  await opened.takeUp("", AbortSignal.abort());
  await opened.close(...closed);
}

/** Says what could not be put in order. */
export function warnLeft({ deps }: TaskBoard, { session, task }: Pick<LeftSession, "session" | "task">, error: unknown): void {
  const why = error instanceof Error ? error.message : String(error);
  deps.warn?.(`what session ${session} of agent ${task} left open could not be ended: ${why}`);
}

/**
 * Agents that a call waited for when their process ended have nobody to report to: what they left open is ended, and their sessions are closed.
 * A process that was only stopped may start others below them until they are taken from it: so this looks again until there is none.
 */
export async function endOrphans(board: TaskBoard): Promise<void> {
  const { session } = board.deps;
  const agents = [...board.entries.values()].filter(({ command }) => !command); // a command has no session of its own
  const family = new Set([session.id, ...agents.map((entry) => entry.session)]);
  const seen = new Set(agents.filter(({ ended }) => !ended).map((entry) => entry.session)); // of one that was given up the session is left
  for (let before = -1; before < seen.size; ) {
    before = seen.size;
    for (const row of await session.ledger.pending("sessions", { limit: 1_000 })) {
      if (seen.has(row.id) || row.parent === null || !family.has(row.parent.session)) continue;
      seen.add(row.id);
      family.add(row.id); // a session is older than those that its agents start
      await endOrphan(board, row, row.parent);
    }
  }
}

async function endOrphan(board: TaskBoard, { id, model, title }: SessionRow, parent: NonNullable<SessionRow["parent"]>): Promise<void> {
  const { task, call } = parent;
  const left: LeftSession = { session: id, task, call, description: title, model, background: false, closed: ["cancelled", 130] };
  const end = async (): Promise<void> => {
    await closeOpen(board.deps.session, id, "runtime");
    await endLeft(board, left);
  };
  for (let tried = 1; ; tried += 1) {
    try {
      return await end();
    } catch (error) {
      if (tried < TRIES && error instanceof LedgerError && error.type === "store_locked") continue;
      warnLeft(board, left, error);
      if (error instanceof LedgerError) board.unclosed.add(end);
      return;
    }
  }
}

/** A store says that it is locked when it has waited for a while. Until the agent is taken from it, a process that was only stopped goes on with it: so it is worth more than one try. */
const TRIES = 5;
