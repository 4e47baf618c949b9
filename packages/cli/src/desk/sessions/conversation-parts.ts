import { type Ledger, readRow, type SessionRow } from "@assent/core";

export type ConversationPart = { readonly session: string; readonly through: number };

/** Oldest first; a fork has several parts. */
export async function conversationParts(ledger: Ledger, id: string): Promise<readonly ConversationPart[]> {
  const parts: ConversationPart[] = [{ session: id, through: Number.POSITIVE_INFINITY }];
  const forkedFrom = async (session: string): Promise<SessionRow["forked"]> => (await readRow(ledger, "sessions", session))?.forked ?? null;
  for (let from = await forkedFrom(id); from; from = await forkedFrom(from.session)) {
    const { session, seq: through } = from;
    if (parts.some((part) => part.session === session)) break; // guards against a circular record
    parts.unshift({ session, through });
  }
  return parts;
}
