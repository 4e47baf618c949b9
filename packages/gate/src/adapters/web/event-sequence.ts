import { isObject } from "@assent/core";
import type { LiveEvent, LiveEventQueue } from "./live-event.ts";
import type { RecordReader } from "./record-reader.ts";
import type { RecordedEvent } from "./recorded-event.ts";

/** An event for a front end, as plain JSON: recorded, live, or the end of the run. */
export type WebEvent = RecordedEvent | LiveEvent | RunEndEvent;

/** The last event of a stream that follows a run. */
export type RunEndEvent = {
  readonly pos: null;
  readonly type: "end";
  readonly reason: string;
  readonly text: string;
  readonly error: { readonly type: string; readonly message: string } | null;
};

export type EventSequenceDeps = {
  readonly live: LiveEventQueue;
  readonly record: RecordReader;
  /** Aborts when the reader disconnects. */
  readonly gone: AbortSignal;
  readonly run: ((signal: AbortSignal) => Promise<unknown>) | undefined;
};

/** Returns one event after the other; undefined at the end. The first call starts the run. */
export function createEventSequence({ live, record, gone, run }: EventSequenceDeps): () => Promise<WebEvent | undefined> {
  let ended: RunEndEvent | undefined;
  let state: "new" | "running" | "told" = "new";
  const begin = (): void => {
    state = "running";
    if (run)
      void run(gone)
        .then(runEnd, runFailure)
        .then((end) => {
          ended = end;
          live.notify();
        });
  };
  // 1. recorded events 2. live events 3. the end, once everything recorded before it was returned
  const look = async (): Promise<WebEvent | undefined> => {
    const end = ended;
    const recorded = await record.next();
    if (recorded) live.dropReplaced(recorded);
    const event = recorded ?? live.take() ?? end;
    if (event?.type === "end") state = "told";
    return event;
  };
  return async () => {
    if (state === "new") begin();
    while (!gone.aborted && state !== "told") {
      const event = await look();
      if (event) return event;
      await live.changed();
    }
    return undefined;
  };
}

/** A conversation returns how it ended. Any other value counts as done. */
function runEnd(end: unknown): RunEndEvent {
  const { reason, text, error } = isObject(end) ? end : {};
  const { type, message } = isObject(error) ? error : {};
  return {
    pos: null,
    type: "end",
    reason: typeof reason === "string" ? reason : "done",
    text: typeof text === "string" ? text : "",
    error: typeof message === "string" ? { type: String(type), message } : null,
  };
}

function runFailure(error: unknown): RunEndEvent {
  const message = error instanceof Error ? error.message : String(error);
  return { pos: null, type: "end", reason: "failed", text: "", error: { type: "unhandled_exception", message } };
}
