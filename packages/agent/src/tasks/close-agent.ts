import { type By, type EventBodies, LedgerError, type Session } from "@assent/core";
import type { TaskBoard } from "./board.ts";
import type { OpenedAgent } from "./open-agent.ts";

export type SessionEnd = readonly [reason: EventBodies["session.closed"]["reason"], exit: number];

/** Closes an agent's session and its open questions. If it rejects, the close is retried before the main session closes. */
export async function closeAgent(board: TaskBoard, opened: OpenedAgent, [reason, exit]: SessionEnd): Promise<void> {
  const { session } = opened;
  const close = async (): Promise<void> => {
    await closeOpenRequests(board.deps.session, session.id, "runtime");
    await opened.close(reason, exit);
  };
  try {
    await close();
  } catch (error) {
    if (error instanceof LedgerError) board.unclosed.add(async () => (session.state.closed ? undefined : await close()));
    throw error;
  }
}

/** Closes agents that are left before the main session closes. */
export async function closeLeftAgents(board: TaskBoard): Promise<void> {
  try {
    await awaitForeground(board);
    for (const close of board.unclosed) {
      await close();
      board.unclosed.delete(close);
    }
  } catch (error) {
    board.deps.session.onClose(() => closeLeftAgents(board)); // for the next attempt
    throw error;
  }
}

const PATIENCE_MS = 5_000;

/** Waits a while for foreground agents that are still stopping. */
async function awaitForeground({ entries, deps }: TaskBoard): Promise<void> {
  const running = new Set([...entries.values()].filter(({ opened, status }) => status === "running" && opened?.node.background === false));
  if (running.size === 0) return;
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const stop = deps.clock.timer(PATIENCE_MS, resolve, { keepsAlive: true });
  const ends = [...running].map((entry) => entry.completion.promise.catch(() => undefined).then(() => running.delete(entry)));
  await Promise.race([late, Promise.all(ends)]);
  stop();
  const [left] = running;
  if (!left) return;
  const message = `Agent ${left.agent} (${left.id}) is still running. Its open calls are settled when this session is opened again.`;
  throw new LedgerError("session_in_use", message, { session: left.session });
}

/** Closes the open approvals and questions of an agent's session. */
export async function closeOpenRequests(root: Session, session: string, by: string): Promise<void> {
  const { ledger } = root;
  for (const { id: approval, call, revision } of await ledger.pending("approvals", { session, limit: 1_000 }))
    await ledger.answer([root.draft("approval.closed", { approval, session, call, revision, outcome: "cancelled", by })]);
  const who: By = { kind: "person", user: by, name: by, door: "task", pid: root.holder.pid };
  for (const { id: question } of await ledger.pending("questions", { session, limit: 1_000 }))
    await ledger.answer([root.draft("question.answered", { question, session, outcome: "cancelled", by: who, reason: null })]);
}
