import type { Ledger, Subscription } from "../../ledger-port.ts";
import { type EventType, type LedgerEvent, SHARED, type StoredEvent } from "../../model/events.ts";
import { fold, type SessionState } from "../../model/fold.ts";
import { namedSession, parseEvent } from "../../model/known-event.ts";
import type { Link } from "./link.ts";

type SharedOn = { readonly ledger: Ledger; readonly id: string; readonly state: SessionState; readonly link: Link };

/** How a session hears of what others said about it. */
export type SessionFollower = {
  /** Calls `heard` after every event of the session, and every one of the shared chain that names it, in the order in which they are folded. It must not throw. */
  readonly listen: (heard: (event: LedgerEvent) => void) => Subscription;
  /**
   * Calls `changed` after every event of the shared chain that may concern an open call, question or proposal, until it is closed.
   * Calls `failed` if the ledger can deliver no more: waiting longer is then useless.
   */
  readonly watch: (changed: (event: LedgerEvent) => void, failed?: (error: unknown) => void) => Subscription;
  /** Folds what other processes said since; for a session that was not watching. */
  readonly refresh: () => Promise<void>;
  /** Resolves when every event up to this position that names the session is folded. Only while watching. */
  readonly caughtUp: (pos: number) => Promise<void>;
};

type Watcher = { readonly changed: (event: LedgerEvent) => void; readonly failed: ((error: unknown) => void) | undefined };

/** What others say that a session acts on. */
const HEARD: readonly EventType[] = [
  "approval.answered",
  "approval.closed",
  "grant.created",
  "grant.revoked",
  "proposal.requested",
  "question.answered",
];

/** Follows the shared chain while the session watches; the only path by which answers of other processes reach the state. */
export function makeFollower({ ledger, id, state, link }: SharedOn): SessionFollower {
  let subscription: Subscription | undefined;
  const sinks = new Set<Watcher>();
  const waiters = new Set<{ readonly pos: number; readonly resolve: () => void; readonly reject: (error: unknown) => void }>();
  const foldNaming = (event: LedgerEvent): void => {
    try {
      fold(state, event);
    } catch (error) {
      link.failure = () => error;
    }
    state.shared = event.pos;
    for (const heard of link.listeners) heard(event);
    for (const waiter of [...waiters].filter(({ pos }) => pos <= event.pos)) {
      waiters.delete(waiter);
      waiter.resolve();
    }
  };
  const take = (stored: StoredEvent): void => {
    const event = parseEvent(stored);
    if (!event) return;
    if (namedSession(event) === id && event.pos > state.shared) foldNaming(event);
    for (const { changed } of sinks) changed(event);
  };
  const catchUp: Link["catchUp"] = async (before) => {
    for await (const stored of ledger.read({ pos: state.shared }, { naming: id })) {
      if (stored.pos < before) take(stored);
    }
  };
  link.catchUp = catchUp; // named first: V8 keeps a function written behind `link.x =` until a full collection, and the closed session with it
  link.take = take;
  const receive = (stored: StoredEvent): void => {
    if (link.underWay > 0) link.held.push(stored);
    else take(stored);
  };
  const lost = (error: unknown): void => {
    subscription = undefined;
    for (const { failed } of sinks) failed?.(error);
    for (const { reject } of waiters) reject(error);
    waiters.clear();
  };
  return {
    listen: (heard) => {
      link.listeners.add(heard);
      return { close: () => void link.listeners.delete(heard) };
    },
    watch: (changed, failed) => {
      const watcher = { changed, failed };
      sinks.add(watcher);
      link.watched = true;
      subscription ??= ledger.subscribe({ pos: state.shared }, { session: SHARED, types: HEARD }, receive, lost);
      return {
        close: () => {
          sinks.delete(watcher);
          link.watched = sinks.size > 0;
          if (link.watched) return;
          subscription?.close();
          subscription = undefined;
        },
      };
    },
    refresh: async () => {
      for await (const stored of ledger.read({ pos: state.shared }, { naming: id })) receive(stored);
    },
    caughtUp: (pos) => {
      if (pos <= state.shared) return Promise.resolve();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      waiters.add({ pos, resolve, reject });
      return promise;
    },
  };
}
