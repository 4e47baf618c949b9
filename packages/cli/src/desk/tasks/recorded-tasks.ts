import { type Ledger, readRows, readSessionState, type SessionRow, type TaskRow } from "@assent/core";

export type RecordedTask = {
  readonly row: TaskRow;
  readonly session: SessionRow;
  /** `interrupted`: its process ended while it ran. */
  readonly state: TaskRow["state"] | "interrupted";
};

export async function recordedTasks(ledger: Ledger, only?: string): Promise<readonly RecordedTask[]> {
  const found: RecordedTask[] = [];
  for await (const session of readRows(ledger, "sessions", { all: true })) {
    if (session.tasks.length === 0 || (only !== undefined && session.id !== only)) continue;
    const { tasks } = await readSessionState(ledger, session.id);
    for (const row of tasks.values()) {
      const isLeft = row.state === "running" && session.state !== "running";
      found.push({ row, session, state: isLeft ? "interrupted" : row.state });
    }
  }
  return found;
}

export function blockedBy({ row }: RecordedTask): string | null {
  return row.paused?.blocked ?? null;
}
