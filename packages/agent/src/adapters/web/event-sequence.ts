import { isObject } from "@assent/core";
import type { Hearing, LiveEvent } from "./live-event.ts";
import type { RecordReader } from "./record-reader.ts";
import type { RecordedEvent } from "./recorded-event.ts";

/** What a front end is told: what is on record, what is only heard, and how the run ended. Plain JSON. */
export type WebEvent = RecordedEvent | LiveEvent | RunEndEvent;

/** The last event of a stream that follows a run. */
export type RunEndEvent = {
  readonly pos: null;
  readonly type: "end";
  readonly reason: string;
  readonly text: string;
  readonly error: { readonly type: string; readonly message: string } | null;
};

/** What is told, to whom. */
export type Telling = {
  readonly hearing: Hearing;
  readonly record: RecordReader;
  /** Aborts when the reader goes away. */
  readonly gone: AbortSignal;
  readonly run: ((signal: AbortSignal) => Promise<unknown>) | undefined;
};

/** Begins the run at the first call, then gives one event after the other. Undefined: there is no more. */
export function tellEvents({ hearing, record, gone, run }: Telling): () => Promise<WebEvent | undefined> {
  let ended: RunEndEvent | undefined;
  let state: "new" | "running" | "told" = "new";
  const begin = (): void => {
    state = "running";
    if (run)
      void run(gone)
        .then(runEnd, runFailure)
        .then((end) => {
          ended = end;
          hearing.ring();
        });
  };
  // 1. what is on record 2. what was heard since 3. the end, once all that was on record by then is told
  const look = async (): Promise<WebEvent | undefined> => {
    const end = ended;
    const recorded = await record.next();
    if (recorded) hearing.told(recorded);
    const event = recorded ?? hearing.take() ?? end;
    if (event?.type === "end") state = "told";
    return event;
  };
  return async () => {
    if (state === "new") begin();
    while (!gone.aborted && state !== "told") {
      const event = await look();
      if (event) return event;
      await hearing.rung();
    }
    return undefined;
  };
}

/** A conversation says how it ended; anything else that was run is done. */
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
