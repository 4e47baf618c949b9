import { type EventBodies, isObject, type Ledger } from "@assent/core";

export type ConversationPart = { readonly session: string; readonly through: number };

/** Oldest first; a fork has several parts. */
export async function conversationParts(ledger: Ledger, id: string): Promise<readonly ConversationPart[]> {
  const parts: ConversationPart[] = [{ session: id, through: Number.POSITIVE_INFINITY }];
  for (let from = await forkedFrom(ledger, id); from; from = await forkedFrom(ledger, from.session)) {
    const { session, seq: through } = from;
    if (parts.some((part) => part.session === session)) break; // guards against a circular record
    parts.unshift({ session, through });
  }
  return parts;
}

async function forkedFrom(ledger: Ledger, session: string): Promise<EventBodies["session.created"]["forked"]> {
  for await (const { body } of ledger.read({ session, seq: 0 }, { session, types: ["session.created"] })) {
    const forked: unknown = body["forked"];
    if (!isObject(forked) || typeof forked["session"] !== "string" || typeof forked["seq"] !== "number") return undefined;
    return { session: forked["session"], seq: forked["seq"] };
  }
  return undefined;
}
