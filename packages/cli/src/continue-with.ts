import type { Ledger } from "@assent/core";
import type { Context } from "./command-spec.ts";
import { storeFlag } from "./store-location.ts";

/** The command by which a session goes on; an agent's goes on with the one that started it all. */
export async function continueWith(context: Pick<Context, "options">, ledger: Ledger, session: string): Promise<string> {
  let id = session;
  for (let above = await parentOf(ledger, id); above !== undefined; above = await parentOf(ledger, id)) id = above;
  return `assent resume ${id}${id === session ? "" : " --tasks"}${storeFlag(context)}`;
}

async function parentOf(ledger: Ledger, id: string): Promise<string | undefined> {
  const [row] = await ledger.pending("sessions", { prefix: id, all: true, limit: 1 });
  return row?.id === id ? row.parent?.session : undefined;
}
