import { LedgerError } from "@assent/core";
import type { TaskBoard } from "./board.ts";
import { closeOpen } from "./close-open.ts";
import type { LeftSession } from "./end-left.ts";
import type { OpenedAgent } from "./open-agent.ts";

/** What an agent's session still asks is closed, and its record ends. Rejects where that could not be stored; then it is tried again before the root is closed. */
export async function closeAgent(board: TaskBoard, opened: OpenedAgent, [reason, exit]: LeftSession["closed"]): Promise<void> {
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
