import type { Display } from "@assent/core";
import type { RecordedEvent } from "./recorded-event.ts";

/** An event that is not recorded. A recorded `message` or `ended` follows with the whole content. */
export type LiveEvent = { readonly pos: null } & (
  | { readonly type: "text" | "reasoning"; readonly turn: number; readonly delta: string }
  | { readonly type: "output"; readonly callId: string; readonly display: Display }
  | { readonly type: "warning"; readonly code: string; readonly message: string }
);

/** Live events that were not returned yet. */
export type LiveEventQueue = {
  readonly add: (event: LiveEvent) => void;
  readonly take: () => LiveEvent | undefined;
  /** Drops live events that this recorded event replaces. */
  readonly dropReplaced: (event: RecordedEvent) => void;
  readonly notify: () => void;
  /** Resolves when something happened since the last call. */
  readonly changed: () => Promise<void>;
};

/** Keeps little, however slow the reader is: text is joined, and the newest output of a call replaces older output. */
export function createLiveEventQueue(): LiveEventQueue {
  let waiting: LiveEvent[] = [];
  let rang = false;
  let wake: (() => void) | undefined;
  const ring = (): void => {
    rang = true;
    wake?.();
  };
  return {
    notify: ring,
    changed: async () => {
      if (!rang) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      rang = false;
      wake = undefined;
    },
    add: (event) => {
      if (event.type === "output") waiting = waiting.filter((older) => !isOutputOf(older, event.callId));
      const last = waiting.at(-1);
      const joined = last && join(last, event);
      if (joined) waiting[waiting.length - 1] = joined;
      else waiting.push(event);
      ring();
    },
    take: () => waiting.shift(),
    dropReplaced: (event) => {
      if (event.type === "message") waiting = waiting.filter((older) => !isTextOf(older, event.turn));
      if (event.type === "ended") waiting = waiting.filter((older) => !isOutputOf(older, event.callId));
    },
  };
}

function join(last: LiveEvent, next: LiveEvent): LiveEvent | undefined {
  if (next.type !== "text" && next.type !== "reasoning") return undefined;
  return last.type === next.type && last.turn === next.turn ? { ...next, delta: last.delta + next.delta } : undefined;
}

function isTextOf(event: LiveEvent, turn: number): boolean {
  return (event.type === "text" || event.type === "reasoning") && event.turn <= turn;
}

function isOutputOf(event: LiveEvent, callId: string): boolean {
  return event.type === "output" && event.callId === callId;
}
