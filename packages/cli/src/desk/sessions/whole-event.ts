import type { LedgerEvent, Session } from "@assent/core";

/** Events whose large values the ledger stores separately. */
const LARGE: readonly LedgerEvent["type"][] = [
  ...(["message.user", "message.assistant", "call.proposed", "call.judged", "call.ended"] as const),
  ...(["proposal.staged", "question.asked", "task.ended"] as const),
];

/** Loads the large values of an event. */
export async function loadWholeEvent<E extends LedgerEvent>({ ledger }: Pick<Session, "ledger">, event: E): Promise<E> {
  if (!LARGE.includes(event.type)) return event;
  return { ...event, body: await ledger.resolve(event.body as never) }; // resolving keeps the shape
}
