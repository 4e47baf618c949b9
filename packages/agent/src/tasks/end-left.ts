import type { EventBodies } from "@assent/core";
import type { TaskBoard } from "./board.ts";
import { openAgent } from "./open-agent.ts";

/** An agent's session that an earlier process left, and how it is to be closed. */
export type LeftSession = {
  readonly session: string;
  readonly task: string;
  readonly call: string;
  readonly description: string;
  readonly model: string | null;
  readonly background: boolean;
  readonly closed: readonly [reason: EventBodies["session.closed"]["reason"], exit: number];
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
