import type { Draft, EventBodies, EventType } from "@assent/core";

/** An event that the store writes itself. */
export function makeDraft<T extends EventType>(type: T, body: EventBodies[T], at: string): Draft<T> {
  // A mapped union does not see that one key gives one member.
  return { type, v: 1, at, body } as Draft<T>;
}
