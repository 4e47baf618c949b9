import type { Ledger, Subscription } from "../../ledger-port.ts";
import { type EventBodies, SHARED } from "../../model/events.ts";
import { parseEvent } from "../../model/known-event.ts";

/** A recorded request to cancel a call, a task, or all that a session does now. */
export type CancelRequest = EventBodies["cancel.requested"];

type CancelListener = { readonly session: string; readonly obey: (request: CancelRequest) => void };

/** One subscription serves all sessions of a process, so that a commit costs the same however many there are. */
type CancelFollower = { readonly listeners: Set<CancelListener>; readonly stop: () => void };

const followers = new WeakMap<Ledger, CancelFollower>();

/** Calls `obey` for every request about this session recorded from now on. Earlier ones were about something that has ended. */
export function followCancelRequests(ledger: Ledger, session: string, obey: CancelListener["obey"]): Subscription {
  const follower = followers.get(ledger) ?? startFollower(ledger);
  const listener = { session, obey };
  follower.listeners.add(listener);
  return {
    close: () => {
      if (!follower.listeners.delete(listener) || follower.listeners.size > 0) return;
      if (followers.get(ledger) === follower) followers.delete(ledger);
      follower.stop();
    },
  };
}

function startFollower(ledger: Ledger): CancelFollower {
  const listeners = new Set<CancelListener>();
  let subscription: Subscription | undefined;
  let isStopped = false;
  const follower: CancelFollower = {
    listeners,
    stop: () => {
      isStopped = true;
      subscription?.close();
    },
  };
  const deliver = (request: CancelRequest): void => {
    // Newest first: the calls of a batch learn who cancelled them before their turn is interrupted.
    for (const { session, obey } of [...listeners].reverse()) if (session === request.session) obey(request);
  };
  const start = async (): Promise<void> => {
    const pos = await ledger.head();
    if (isStopped) return;
    subscription = ledger.subscribe({ pos }, { session: SHARED, types: ["cancel.requested"] }, (stored) => {
      const event = parseEvent(stored);
      if (event?.type === "cancel.requested") deliver(event.body);
    });
  };
  start().catch(() => undefined); // a store that cannot be read fails the next write
  followers.set(ledger, follower);
  return follower;
}
