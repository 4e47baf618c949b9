import type { Maybe } from "@assent/core";
import type { WireMessage } from "./message.ts";

/** Messages on their way to a reader, in the order in which they were pushed. What is pushed is made when its turn comes, so that a slow reader holds no large values. */
export type LineFeed = {
  readonly push: (make: () => Maybe<readonly WireMessage[]>) => void;
  /** Resolves when the reader keeps up. Producers of many messages wait for it. */
  readonly paced: () => Promise<void>;
  /** The reader does not keep up: what can be left out should be. */
  readonly isBehind: () => boolean;
  /** Resolves when everything is written, or nothing can be any more. */
  readonly idle: () => Promise<void>;
};

const MOST_WAITING = 64;

/** Who is told what went wrong. */
export type FeedFaults = {
  /** A write failed, which ends the feed: what follows is dropped. Told once. */
  readonly gone: (error: unknown) => void;
  /** A message could not be made. The others follow all the same. */
  readonly unmade: (error: unknown) => void;
};

/** A feed into `write`. */
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
