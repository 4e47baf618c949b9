import { LedgerError, messageOf, type SessionRow } from "@assent/core";
import type { TaskBoard } from "./board.ts";
import { closeOpenRequests, type SessionEnd } from "./close-agent.ts";
import { openAgent } from "./open-agent.ts";

/** An agent's session that an earlier process left open. */
export type LeftSession = {
  readonly session: string;
  readonly task: string;
  readonly call: string;
  readonly description: string;
  readonly model: string | null;
  readonly background: boolean;
  readonly closed: SessionEnd;
};

/** Settles the open calls of the session and closes it. The agent is not resumed. */
export async function endLeftSession({ deps, main }: TaskBoard, { session, closed, ...about }: LeftSession): Promise<void> {
  const opened = await openAgent(deps, { ...about, mode: "plan", definition: undefined, parent: main }, session);
  await opened.resumeFromRecord("", AbortSignal.abort());
  await opened.close(...closed);
}

export function warnAboutLeftSession({ deps }: TaskBoard, { session, task }: Pick<LeftSession, "session" | "task">, error: unknown): void {
  deps.warn?.(`the open calls of session ${session} of agent ${task} could not be ended: ${messageOf(error)}`);
}

/** Ends foreground agents whose process ended, until there are none: a stopped process may still start others below them. */
export async function endOrphans(board: TaskBoard): Promise<void> {
  const { session } = board.deps;
  const agents = [...board.entries.values()].filter(({ command }) => !command); // a command has no session of its own
  const family = new Set([session.id, ...agents.map((entry) => entry.session)]);
  const seen = new Set(agents.filter(({ ended }) => !ended).map((entry) => entry.session)); // an ended agent may have left its session open
  for (let before = -1; before < seen.size; ) {
    before = seen.size;
    for (const row of await session.ledger.pending("sessions", { limit: 1_000 })) {
      if (seen.has(row.id) || row.parent === null || !family.has(row.parent.session)) continue;
      seen.add(row.id);
      family.add(row.id); // sessions are listed oldest first
      await endOrphan(board, row, row.parent);
    }
  }
}

async function endOrphan(board: TaskBoard, { id, model, title }: SessionRow, parent: NonNullable<SessionRow["parent"]>): Promise<void> {
  const { task, call } = parent;
  const left: LeftSession = { session: id, task, call, description: title, model, background: false, closed: ["cancelled", 130] };
  const end = async (): Promise<void> => {
    await closeOpenRequests(board.deps.session, id, "runtime");
    await endLeftSession(board, left);
  };
  for (let tried = 1; ; tried += 1) {
    try {
      return await end();
    } catch (error) {
      if (tried < TRIES && error instanceof LedgerError && error.type === "store_locked") continue;
      warnAboutLeftSession(board, left, error);
      if (error instanceof LedgerError) board.unclosed.add(end);
      return;
    }
  }
}

/** A stopped process may hold the lock until the session is taken from it, so try several times. */
const TRIES = 5;
