import type { Content } from "@assent/core";

/** What there is to do: something a person says, or to go on where the session was left; `if told`: with the model only where it is to be told something. */
export type Work = { readonly say: Content } | { readonly goOn: "always" | "if told" };

/** Work in the order in which it came, each piece once. */
export type Inbox = {
  /** False: a message of this id was taken already. */
  readonly push: (work: Work, uuid?: string) => boolean;
  /** Nothing more will come. */
  readonly close: () => void;
  /** Resolves when there is a piece to take; false: nothing more will come, or the signal aborted. */
  readonly ready: (signal: AbortSignal) => Promise<boolean>;
  /** The next piece. Whoever takes it begins with it in the same moment, so that it always waits or is under way. */
  readonly take: () => Work;
  /** Something waits to be taken. */
  readonly waits: () => boolean;
  /** Nothing waits and nothing more will come. */
  readonly isOver: () => boolean;
  /** Resolves when something waits to be taken. */
  readonly arrival: () => Promise<void>;
};

/** An empty inbox. */
export function createInbox(): Inbox {
  const queue: Work[] = [];
  const seen = new Set<string>();
  let closed = false;
  let changed = Promise.withResolvers<void>();
  const ring = (): void => {
    changed.resolve();
    changed = Promise.withResolvers<void>();
  };
  return {
    push: (work, uuid) => {
      if (uuid !== undefined && seen.has(uuid)) return false;
      if (uuid !== undefined) seen.add(uuid);
      queue.push(work);
      ring();
      return true;
    },
    close: () => {
      closed = true;
      ring();
    },
    ready: async (signal) => {
      const stop = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      while (queue.length === 0 && !closed && !signal.aborted) await Promise.race([changed.promise, stop]);
      return queue.length > 0 && !signal.aborted;
    },
    take: () => {
      const piece = queue.shift();
      if (!piece) throw new Error("nothing waits to be taken");
      return piece;
    },
    waits: () => queue.length > 0,
    isOver: () => closed && queue.length === 0,
    arrival: async () => {
      while (queue.length === 0) await changed.promise;
    },
  };
}
