import type { Content } from "@assent/core";
import { untilAborted } from "../../io/cancel-on-signal.ts";

/** Work for the run: a person's message, or resuming the session; `if notified` calls the model only if a notice waits for it. */
export type Work = { readonly say: Content } | { readonly resume: "always" | "if notified" };

export type Inbox = {
  /** False if a message with this id was already taken. */
  readonly push: (work: Work, uuid?: string) => boolean;
  readonly close: () => void;
  /** Resolves with true when there is work; false once closed or aborted. */
  readonly ready: (signal: AbortSignal) => Promise<boolean>;
  /** The next piece of work. The caller must start it at once, so that work is always either waiting or running. */
  readonly take: () => Work;
  readonly waits: () => boolean;
  readonly isOver: () => boolean;
  readonly arrival: () => Promise<void>;
};

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
      const stop = untilAborted(signal);
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
