import type { Stage } from "../screen/stage.ts";

/** A text that waits for its turn. */
export type Unsaid = {
  /** Its turn has come. False: it was taken back. */
  readonly begin: () => boolean;
  /** It is being said, and no longer shown as waiting. */
  readonly said: () => void;
};

/** What the person said while the model was busy, shown in its order. */
export type UnsaidTexts = {
  readonly add: (text: string) => Unsaid;
  /** Takes back all that has not begun. */
  readonly withdraw: () => readonly string[];
};

/** Nothing waits. */
export function unsaidTexts({ shown }: Pick<Stage, "shown">): UnsaidTexts {
  const waiting: { readonly text: string }[] = [];
  return {
    add: (text) => {
      const next = { text };
      waiting.push(next);
      shown.queued = [...shown.queued, text];
      return {
        begin: () => waiting[0] === next && waiting.shift() !== undefined,
        said: () => {
          shown.queued = shown.queued.slice(1);
        },
      };
    },
    withdraw: () => {
      shown.queued = shown.queued.slice(0, shown.queued.length - waiting.length);
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
export function earlyLines({ shown, changed }: Pick<Stage, "shown" | "changed">): EarlyLines {
  const standing = Promise.withResolvers<void>();
  let isOpen = false;
  return {
    turnOf: async (line) => {
      if (isOpen) return;
      shown.queued = [...shown.queued, line];
      changed();
      await standing.promise;
      shown.queued = shown.queued.slice(1);
      changed();
    },
    open: () => {
      isOpen = true;
      standing.resolve();
    },
  };
}
