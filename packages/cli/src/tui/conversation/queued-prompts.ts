import type { ConversationView } from "../screen/view.ts";

export type QueuedPrompt = {
  /** False if it was withdrawn. */
  readonly begin: () => boolean;
  /** Removes it from the list of queued prompts. */
  readonly said: () => void;
};

export type QueuedPrompts = {
  readonly add: (text: string) => QueuedPrompt;
  /** Takes back everything that has not started. */
  readonly withdraw: () => readonly string[];
};

export function queuePrompts({ state }: Pick<ConversationView, "state">): QueuedPrompts {
  const waiting: { readonly text: string }[] = [];
  return {
    add: (text) => {
      const next = { text };
      waiting.push(next);
      state.queued = [...state.queued, text];
      return {
        begin: () => waiting[0] === next && waiting.shift() !== undefined,
        said: () => {
          state.queued = state.queued.slice(1);
        },
      };
    },
    withdraw: () => {
      state.queued = state.queued.slice(0, state.queued.length - waiting.length);
      return waiting.splice(0).map(({ text }) => text);
    },
  };
}

/** Lines sent before the conversation is ready. */
export type EarlyLines = {
  /** Resolves when the line may be handled, in the order of sending. */
  readonly turnOf: (line: string) => Promise<void>;
  /** The conversation is ready. */
  readonly open: () => void;
};

/** Holds and shows lines until the conversation is ready. */
export function holdEarlyLines({ state, changed }: Pick<ConversationView, "state" | "changed">): EarlyLines {
  const standing = Promise.withResolvers<void>();
  let isOpen = false;
  return {
    turnOf: async (line) => {
      if (isOpen) return;
      state.queued = [...state.queued, line];
      changed();
      await standing.promise;
      state.queued = state.queued.slice(1);
      changed();
    },
    open: () => {
      isOpen = true;
      standing.resolve();
    },
  };
}
