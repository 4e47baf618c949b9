import type { Subscription } from "../../ledger-port.ts";
import type { LedgerEvent, StoredEvent } from "../../model/events.ts";
import type { Reader } from "./chains.ts";

/** Those who are told of new events: each reads on from its own place, so a slow one holds up nobody and costs no memory. */
export type Followers = {
  readonly add: (next: Reader, sink: (event: StoredEvent) => void) => Subscription;
  /** Something was written. */
  readonly wake: () => void;
  readonly clear: () => void;
};

/** Delivers after the writer's turn, never inside it: a sink may append without finding a ledger half written. */
export function makeFollowers(): Followers {
  const following = new Map<Reader, (event: StoredEvent) => void>();
  let due = false;
  const deliver = (): void => {
    due = false;
    for (const [next, sink] of following) {
      for (let event = next(Number.POSITIVE_INFINITY); event && following.has(next); event = next(Number.POSITIVE_INFINITY))
        tell(sink, event);
    }
  };
  const wake = (): void => {
    if (due || following.size === 0) return;
    due = true;
    queueMicrotask(deliver);
  };
  return {
    add: (next, sink) => {
      following.set(next, sink);
      wake();
      return { close: () => following.delete(next) };
    },
    wake,
    clear: () => following.clear(),
  };
}

function tell(sink: (event: StoredEvent) => void, event: LedgerEvent): void {
  try {
    sink(event);
  } catch {
    // The port's word: a throwing sink ends nothing, neither its own subscription nor anybody's write.
  }
}
