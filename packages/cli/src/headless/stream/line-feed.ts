import type { Maybe } from "@assent/core";
import type { WireMessage } from "./message.ts";

/** Messages on their way to a reader, in order. Each is created when its turn comes, so that a slow reader holds no large values. */
export type LineFeed = {
  readonly push: (make: () => Maybe<readonly WireMessage[]>) => void;
  readonly paced: () => Promise<void>;
  /** The reader is slow, so optional messages should be dropped. */
  readonly isBehind: () => boolean;
  /** Resolves when everything is written, or writing has failed. */
  readonly idle: () => Promise<void>;
};

const MOST_WAITING = 64;

export type FeedFaults = {
  /** Called once when a write fails; later messages are dropped. */
  readonly gone: (error: unknown) => void;
  /** Called when a message could not be created; the others follow. */
  readonly unmade: (error: unknown) => void;
};

export function lineFeed(write: (message: WireMessage) => Promise<void>, { gone, unmade }: FeedFaults): LineFeed {
  const queue: (() => Maybe<readonly WireMessage[]>)[] = [];
  const waiters: { readonly most: number; readonly resolve: () => void }[] = [];
  let running = false;
  let over = false;
  const left = (): number => queue.length + (running ? 1 : 0);
  const release = (): void => {
    for (const waiter of waiters.splice(0)) {
      if (left() <= waiter.most) waiter.resolve();
      else waiters.push(waiter);
    }
  };
  const pump = async (): Promise<void> => {
    for (let make = queue.shift(); make; make = queue.shift()) {
      for (const message of await made(make)) await write(message);
      release();
    }
  };
  const made = async (make: () => Maybe<readonly WireMessage[]>): Promise<readonly WireMessage[]> => {
    try {
      return await make();
    } catch (error) {
      unmade(error);
      return [];
    }
  };
  const start = (): void => {
    running = true;
    pump()
      .catch((error: unknown) => {
        over = true;
        queue.length = 0;
        gone(error);
      })
      .finally(() => {
        running = false;
        if (queue.length > 0) start();
        release();
      });
  };
  const when = (most: number): Promise<void> =>
    left() <= most ? Promise.resolve() : new Promise((resolve) => void waiters.push({ most, resolve }));
  return {
    push: (make) => {
      if (over) return;
      queue.push(make);
      if (!running) start();
    },
    paced: () => when(MOST_WAITING),
    isBehind: () => left() > MOST_WAITING,
    idle: () => when(0),
  };
}
