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
