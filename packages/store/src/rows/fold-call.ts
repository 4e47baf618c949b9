import { lifecycleCallOf, parseEvent } from "@assent/core";
import { type EventColumns, toStoredEvent } from "./event-columns.ts";
import { changeCall } from "./lists.ts";
import { makeMemoryRows } from "./memory-rows.ts";
import type { CallEntry } from "./rows.ts";

/** A call after its own events and the shared events about it, which the caller sorts by position. */
export function foldCall(events: readonly EventColumns[]): CallEntry | undefined {
  const { calls } = makeMemoryRows();
  for (const columns of events) {
    const event = parseEvent(toStoredEvent(columns));
    if (event && lifecycleCallOf(event) !== undefined) changeCall(calls, "", event);
  }
  return calls.get("");
}
