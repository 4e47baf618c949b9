import type { Stage } from "../screen/stage.ts";

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
