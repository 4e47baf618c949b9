import type { Ledger, StoredEvent } from "@assent/core";
import { conversationParts, type Part } from "./conversation-parts.ts";

/** Everything on record of a session, with large values in their places: its chain and what the shared chain says to it. A fork begins with what it was forked from. */
export async function* exportedEvents(ledger: Ledger, id: string): AsyncGenerator<StoredEvent> {
  for (const part of await conversationParts(ledger, id)) {
    for await (const event of eventsOf(ledger, part)) yield { ...event, body: await ledger.resolve(event.body) };
  }
}

async function* eventsOf(ledger: Ledger, { session, through }: Part): AsyncGenerator<StoredEvent> {
  for await (const event of ledger.read({ session, seq: 0 }, { session, naming: session })) {
    if (event.session === session && event.seq > through) return;
    yield event;
  }
}
