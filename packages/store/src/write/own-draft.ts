import type { Draft, EventBodies, EventType } from "@assent/core";

export function makeDraft<T extends EventType>(type: T, body: EventBodies[T], at: string): Draft<T> {
  // TypeScript does not see that one key gives one member of the union.
  return { type, v: 1, at, body } as Draft<T>;
}
