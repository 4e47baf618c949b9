import type { JsonObject } from "@assent/core";
import type { ChainedEvent } from "./lists.ts";

/** A row of `events` as SQLite gives it. */
export type EventColumns = {
  readonly pos: number;
  readonly session: string;
  readonly seq: number;
  readonly epoch: number;
  readonly at: string;
  readonly type: string;
  readonly v: number;
  readonly body: string;
  readonly prev: string;
  readonly hash: string;
};

/** The columns of `events` that make an event. */
export const EVENT_COLUMNS = "pos, session, seq, epoch, at, type, v, body, prev, hash";

/** The event that a row holds. */
export function storedEvent({ pos, session, seq, epoch, at, type, v, body, prev, hash }: EventColumns): ChainedEvent {
  // Parsing: bodies are canonical JSON of objects.
  return { type, v, at, body: JSON.parse(body) as JsonObject, session, seq, pos, epoch, prev, hash };
}
