import type { Ledger } from "@assent/core";

/** The id by which the agent of this session is stopped and spoken to; null: it is no agent's. */
export async function askingAgent(ledger: Ledger, session: string): Promise<string | null> {
  const [row] = await ledger.pending("sessions", { prefix: session, all: true, limit: 1 });
  return row?.id === session ? (row.parent?.task ?? null) : null;
}
