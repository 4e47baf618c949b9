import type { JsonObject } from "@assent/core";
import type { HashedEvent } from "../write/chain.ts";
import type { ChainedEvent } from "./lists.ts";

export type EventColumns = Omit<HashedEvent, "store"> & { readonly pos: number; readonly hash: string };

export const EVENT_COLUMNS = "pos, session, seq, epoch, at, type, v, body, prev, hash";

const NUMBERS = ["pos", "seq", "epoch", "v"] as const;
const TEXTS = ["session", "at", "type", "body", "prev", "hash"] as const;

/** A malformed file can return rows of another table. */
export function isEventRow(row: EventColumns): boolean {
  return NUMBERS.every((column) => typeof row[column] === "number") && TEXTS.every((column) => typeof row[column] === "string");
}

export function toStoredEvent({ pos, session, seq, epoch, at, type, v, body, prev, hash }: EventColumns): ChainedEvent {
  // Parsing: the store wrote the body as JSON.
  return { type, v, at, body: JSON.parse(body) as JsonObject, session, seq, pos, epoch, prev, hash };
}
