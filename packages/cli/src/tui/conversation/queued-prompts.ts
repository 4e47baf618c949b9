import type { ConversationView } from "../screen/view.ts";

/** A text that waits for its turn. */
export type QueuedPrompt = {
  /** Its turn has come. False: it was taken back. */
  readonly begin: () => boolean;
  /** It is being said, and no longer shown as waiting. */
  readonly said: () => void;
};

/** What the person said while the model was busy, shown in its order. */
export type QueuedPrompts = {
  readonly add: (text: string) => QueuedPrompt;
  /** Takes back all that has not begun. */
  readonly withdraw: () => readonly string[];
};

/** Nothing waits. */
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

/** Lines that are sent before the conversation stands. */
export type EarlyLines = {
  /** Resolves when the line may be taken up: at once, or behind what the conversation begins with, in the order in which they were sent. */
  readonly turnOf: (line: string) => Promise<void>;
  /** The conversation stands, and what it begins with is under way. */
  readonly open: () => void;
};

/** Holds lines, for everybody to see, until the conversation stands. */
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
