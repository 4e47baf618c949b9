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

const NUMBERS = ["pos", "seq", "epoch", "v"] as const;
const TEXTS = ["session", "at", "type", "body", "prev", "hash"] as const;

/** False: a row of another table stands here, as it can in a malformed file. */
export function isEventRow(row: EventColumns): boolean {
  return NUMBERS.every((column) => typeof row[column] === "number") && TEXTS.every((column) => typeof row[column] === "string");
}

/** The event that a row holds. */
export function toStoredEvent({ pos, session, seq, epoch, at, type, v, body, prev, hash }: EventColumns): ChainedEvent {
  // Parsing: bodies are canonical JSON of objects.
  return { type, v, at, body: JSON.parse(body) as JsonObject, session, seq, pos, epoch, prev, hash };
}
