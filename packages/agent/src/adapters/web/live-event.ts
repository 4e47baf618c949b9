import type { Display } from "@assent/core";
import type { RecordedEvent } from "./recorded-event.ts";

/** What is heard while it happens and not kept: a `message` or `ended` on record tells the same in full. */
export type LiveEvent = { readonly pos: null } & (
  | { readonly type: "text" | "reasoning"; readonly turn: number; readonly delta: string }
  | { readonly type: "output"; readonly callId: string; readonly display: Display }
  | { readonly type: "warning"; readonly code: string; readonly message: string }
);

/** What was heard and not told yet. */
export type Hearing = {
  readonly add: (event: LiveEvent) => void;
  readonly take: () => LiveEvent | undefined;
  /** This was told from the record: what led to it need not be told any more. */
  readonly told: (event: RecordedEvent) => void;
  /** Wakes whoever waits. */
  readonly ring: () => void;
  /** Resolves when the bell rang since it was last heard. */
  readonly rung: () => Promise<void>;
};

/** Holds little however slow its reader is: text that follows text is joined, and the newest output of a call takes the older one's place. */
export function makeHearing(): Hearing {
  let waiting: LiveEvent[] = [];
  let rang = false;
  let wake: (() => void) | undefined;
  const ring = (): void => {
    rang = true;
    wake?.();
  };
  return {
    ring,
    rung: async () => {
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
    told: (event) => {
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
