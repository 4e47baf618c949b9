import type { Ledger } from "@assent/core";
import { CommandError } from "../../io/failure.ts";

/** Nobody but the session that started an agent speaks in the agent's own. */
export async function refuseAgentSession(ledger: Ledger, id: string): Promise<void> {
  const [row] = await ledger.pending("sessions", { prefix: id, all: true, limit: 1 });
  if (row?.id !== id || row.parent === null) return;
  throw new CommandError("not_allowed", 1, {
    message: `${id} is the session of a background agent; it goes on with the session that started it.`,
    hint: `assent resume ${row.parent.session} --tasks`,
  });
}
