import { type By, type EventBodies, LedgerError, type Session } from "@assent/core";
import type { TaskBoard } from "./board.ts";
import type { OpenedAgent } from "./open-agent.ts";

/** How a session is closed. */
export type SessionEnd = readonly [reason: EventBodies["session.closed"]["reason"], exit: number];

/** What an agent's session still asks is closed, and its record ends. Rejects where that could not be stored; then it is tried again before the root is closed. */
export async function closeAgent(board: TaskBoard, opened: OpenedAgent, [reason, exit]: SessionEnd): Promise<void> {
  const { session } = opened;
  const close = async (): Promise<void> => {
    await closeOpen(board.deps.session, session.id, "runtime");
    await opened.close(reason, exit);
  };
  try {
    await close();
  } catch (error) {
    if (error instanceof LedgerError) board.unclosed.add(async () => (session.state.closed ? undefined : await close()));
    throw error;
  }
}

/** No root is closed while an agent that a call waited for is left open: nobody would look at that one again. What fails here the next process puts in order. */
export async function closeLeftAgents(board: TaskBoard): Promise<void> {
  try {
    await awaitForeground(board);
    for (const close of board.unclosed) {
      await close();
      board.unclosed.delete(close);
    }
  } catch (error) {
    board.deps.session.onClose(() => closeLeftAgents(board)); // whoever wants it closed once more
    throw error;
  }
}

const PATIENCE_MS = 5_000;

/** A call that is cancelled does not wait for an agent that winds down slowly; the root does, for a while. Tasks have had their time when they were ended. */
async function awaitForeground({ entries, deps }: TaskBoard): Promise<void> {
  const running = new Set([...entries.values()].filter(({ opened, status }) => status === "running" && opened?.node.background === false));
  if (running.size === 0) return;
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const stop = deps.clock.timer(PATIENCE_MS, resolve, { keepsAlive: true });
  const ends = [...running].map((entry) => entry.over.promise.catch(() => undefined).then(() => running.delete(entry)));
  await Promise.race([late, Promise.all(ends)]);
  stop();
  const [left] = running;
  if (!left) return;
  const message = `Agent ${left.agent} (${left.id}) has not come to rest. What it left open is put in order when this session is opened again.`;
  throw new LedgerError("session_in_use", message, { session: left.session });
}

/** Closes what an agent's session still asks people; an answer that comes later is told that it is closed. */
export async function closeOpen(root: Session, session: string, by: string): Promise<void> {
  const { ledger } = root;
  for (const { id: approval, call, revision } of await ledger.pending("approvals", { session, limit: 1_000 }))
    await ledger.answer([root.draft("approval.closed", { approval, session, call, revision, outcome: "cancelled", by })]);
  const who: By = { kind: "person", user: by, name: by, door: "task", pid: root.holder.pid };
  for (const { id: question } of await ledger.pending("questions", { session, limit: 1_000 }))
    await ledger.answer([root.draft("question.answered", { question, session, outcome: "cancelled", by: who, reason: null })]);
}
