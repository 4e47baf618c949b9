import type { StoredEvent, Subscription } from "@assent/core";
import { notifySink } from "@assent/store/parts";
import type { EventPages } from "./read-events.ts";

/** Each subscriber reads from the database, so a slow one delays no other. */
export type Followers = {
  readonly add: (open: () => Promise<EventPages>, sink: (event: StoredEvent) => void, failed?: (error: unknown) => void) => Subscription;
  /** Call it after a commit, a notification or a lost connection. */
  readonly wake: () => void;
  readonly clear: () => void;
};

export type FollowerOptions = {
  /** Called regularly while there are followers: a notification may be lost. */
  readonly look: () => void;
  readonly lookMs: number;
  readonly failed: (error: unknown) => void;
};

type Follower = { isOpen: boolean; isDue: boolean; isReading: boolean; readonly read: () => Promise<void> };

export function makeFollowers({ look, lookMs, failed }: FollowerOptions): Followers {
  const following = new Set<Follower>();
  let timer: NodeJS.Timeout | undefined;
  const remove = (follower: Follower): void => {
    follower.isOpen = false;
    if (!following.delete(follower) || following.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  const start = async (follower: Follower): Promise<void> => {
    follower.isDue = true;
    if (follower.isReading) return;
    follower.isReading = true;
    while (follower.isDue && follower.isOpen) {
      follower.isDue = false;
      await follower.read();
    }
    follower.isReading = false;
  };
  return {
    add: (open, sink, ended) => {
      let pages: EventPages | undefined;
      const follower: Follower = {
        isOpen: true,
        isDue: false,
        isReading: false,
        read: async () => {
          try {
            pages ??= await open();
            for (
              let events = await pages.next(Number.MAX_SAFE_INTEGER);
              events.length > 0;
              events = await pages.next(Number.MAX_SAFE_INTEGER)
            ) {
              for (const event of events) if (follower.isOpen) notifySink(sink, event, failed);
              if (!follower.isOpen) return;
            }
          } catch (error) {
            if (!follower.isOpen) return;
            remove(follower);
            failed(error);
            ended?.(error);
          }
        },
      };
      following.add(follower);
      timer ??= setInterval(look, lookMs); // also keeps the process alive
      void start(follower);
      return { close: () => remove(follower) };
    },
    wake: () => {
      for (const follower of following) void start(follower);
    },
    clear: () => {
      for (const follower of following) remove(follower);
    },
  };
}
