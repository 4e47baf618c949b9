import type { StoredEvent, Subscription } from "@assent/core";
import type { EventReader } from "./read-events.ts";

/** Each subscriber reads from disk, so a slow one delays no other. */
export type Followers = {
  readonly add: (follower: Follower) => Subscription;
  /** Call after every commit, here or in another process. `sessions` are all that were written; without them, every subscriber looks. */
  readonly wake: (sessions?: ReadonlySet<string>) => void;
  readonly clear: () => void;
};

export type FollowerOptions = {
  readonly head: () => number;
  /** Called while there are followers; returns a function that stops it. */
  readonly watch: (changed: () => void, lost: (error: unknown) => void) => () => void;
  readonly failed: (error: unknown) => void;
};

const TURN = 256;

/** A subscriber. */
export type Follower = {
  readonly next: EventReader;
  /** Set if it wants only events of this session. */
  readonly session: string | undefined;
  readonly sink: (event: StoredEvent) => void;
  readonly failed: ((error: unknown) => void) | undefined;
};

/** Delivers a few events per turn of the event loop. */
export function makeFollowers({ head, watch, failed }: FollowerOptions): Followers {
  const following = new Set<Follower>();
  const woken = new Set<Follower>();
  let due: NodeJS.Immediate | undefined;
  let unwatch: (() => void) | undefined;
  const remove = (follower: Follower): void => {
    woken.delete(follower);
    if (!following.delete(follower) || following.size > 0) return;
    unwatch?.();
    unwatch = undefined;
  };
  const turn = (follower: Follower, until: number): boolean => {
    for (let count = 0; count < TURN; count += 1) {
      const event = following.has(follower) ? follower.next(until) : undefined;
      if (!event) return false;
      notifySink(follower.sink, event, failed);
    }
    return true;
  };
  const end = (follower: Follower, error: unknown): void => {
    remove(follower);
    failed(error);
    follower.failed?.(error);
  };
  const endAll = (error: unknown): void => {
    for (const follower of following) end(follower, error);
  };
  const deliver = (): void => {
    due = undefined;
    for (const follower of woken) {
      try {
        if (!turn(follower, head())) woken.delete(follower);
      } catch (error) {
        end(follower, error);
      }
    }
    if (woken.size > 0) due ??= setImmediate(deliver);
  };
  const wake: Followers["wake"] = (sessions) => {
    for (const follower of following) if (follower.session === undefined || sessions?.has(follower.session) !== false) woken.add(follower);
    if (woken.size > 0) due ??= setImmediate(deliver);
  };
  return {
    add: (follower) => {
      following.add(follower);
      unwatch ??= watch(wake, endAll);
      wake();
      return { close: () => remove(follower) };
    },
    wake,
    clear: () => {
      for (const follower of following) remove(follower);
      if (due) clearImmediate(due);
      due = undefined;
    },
  };
}

/** A throwing sink ends neither its subscription nor the writer. */
export function notifySink(sink: (event: StoredEvent) => void, event: StoredEvent, failed: (error: unknown) => void): void {
  try {
    sink(event);
  } catch (error) {
    failed(error);
  }
}
