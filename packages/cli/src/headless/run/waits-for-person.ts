import type { Session } from "@assent/core";

/** Whether a background agent is paused for a person: what it asks is open, or was answered and waits to be taken up. One that is blocked for other reasons waits only for what is still open. */
export async function waitsForPerson({ state, ledger }: Pick<Session, "state" | "ledger">): Promise<boolean> {
  for (const { paused, session } of state.tasks.values()) {
    if (!paused) continue;
    if (paused.blocked === "approval") return true;
    const [approval] = await ledger.pending("approvals", { session, limit: 1 });
    const [question] = await ledger.pending("questions", { session, limit: 1 });
    if (approval || question) return true;
  }
  return false;
}
