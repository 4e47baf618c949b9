import type { Ledger, Subscription } from "../../ledger-port.ts";
import { type EventType, type LedgerEvent, SHARED, type StoredEvent } from "../../model/events.ts";
import { fold, type SessionState } from "../../model/fold.ts";
import { namedSession, parseEvent } from "../../model/known-event.ts";

export type SessionFollower = {
  /** `heard` must not throw. */
  readonly listen: (heard: (event: LedgerEvent) => void) => Subscription;
  /** Calls `changed` after every shared event, `failed` if the subscription is lost. */
  readonly watch: (changed: (event: LedgerEvent) => void, failed?: (error: unknown) => void) => Subscription;
  /** Folds events of other processes while not watching. */
  readonly refresh: () => Promise<void>;
  /** Only while watching. */
  readonly caughtUp: (pos: number) => Promise<void>;
};

type Watcher = { readonly changed: (event: LedgerEvent) => void; readonly failed: ((error: unknown) => void) | undefined };

const FOLLOWED_TYPES: readonly EventType[] = [
  "approval.answered",
  "approval.closed",
  "grant.created",
  "grant.revoked",
  "proposal.requested",
  "question.answered",
];

/** The only path by which other processes' answers reach the state. */
export function makeFollower(ledger: Ledger, id: string, state: SessionState, link: SessionLink): SessionFollower {
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
  const foldShared = (stored: StoredEvent): void => {
    const event = parseEvent(stored);
    if (!event) return;
    if (namedSession(event) === id && event.pos > state.shared) foldNaming(event);
    for (const { changed } of sinks) changed(event);
  };
  const catchUp: SessionLink["catchUp"] = async (before) => {
    for await (const stored of ledger.read({ pos: state.shared }, { naming: id })) {
      if (stored.pos < before) foldShared(stored);
    }
  };
  link.catchUp = catchUp; // V8 keeps a function assigned inline to `link.x`, and the closed session with it, until a full garbage collection
  link.foldShared = foldShared;
  const receive = (stored: StoredEvent): void => {
    if (link.underWay > 0) link.held.push(stored);
    else foldShared(stored);
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
      subscription ??= ledger.subscribe({ pos: state.shared }, { session: SHARED, types: FOLLOWED_TYPES }, receive, lost);
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

export type SessionLink = {
  /** Makes the error for every further write. */
  failure: (() => unknown) | undefined;
  underWay: number;
  /** Shared events wait for own writes in flight, which they may answer. */
  readonly held: StoredEvent[];
  foldShared: (stored: StoredEvent) => void;
  /** Folds events that other processes recorded before this position. */
  catchUp: (before: number) => Promise<void>;
  watched: boolean;
  readonly listeners: Set<(event: LedgerEvent) => void>;
};
