import { messageOf } from "@assent/core";
import { callListener } from "@assent/core/parts";
import { GateUsageError } from "./gate-error.ts";
import type { GateEvent } from "./gate-options.ts";

/** The listeners of a gate. */
export type GateEvents = {
  readonly emit: (event: GateEvent) => void;
  readonly on: <T extends GateEvent["type"]>(type: T, listener: (event: Extract<GateEvent, { readonly type: T }>) => void) => () => void;
  readonly isHeard: () => boolean;
};

const EVENT_TYPES: Readonly<Record<GateEvent["type"], true>> = {
  confirmation: true,
  hookBlocked: true,
  toolCall: true,
  output: true,
  response: true,
  messageAdded: true,
  decided: true,
};

/** Creates the listeners of a gate. A listener that throws changes nothing; it is reported once. */
export function createGateEvents(observe: ((event: GateEvent) => void) | undefined, warn: (message: string) => void): GateEvents {
  const listeners = new Set<(event: GateEvent) => void>(observe ? [observe] : []);
  const failed = new Set<unknown>();
  return {
    isHeard: () => listeners.size > 0,
    emit: (event) => {
      for (const listener of [...listeners]) {
        callListener(
          () => listener(event),
          (error) => {
            if (!failed.has(listener)) warn(`an observer failed: ${messageOf(error)}`);
            failed.add(listener);
          },
        );
      }
    },
    on: (type, listener) => {
      if (!Object.hasOwn(EVENT_TYPES, type))
        throw new GateUsageError("bad_option", `A gate has no event '${String(type)}'. It has ${Object.keys(EVENT_TYPES).join(", ")}.`);
      if (typeof listener !== "function") throw new GateUsageError("bad_option", `The listener of event '${type}' must be a function.`);
      // Only events of this type get through.
      const hear = (event: GateEvent): void => (event.type === type ? listener(event as never) : undefined);
      listeners.add(hear);
      return () => void listeners.delete(hear);
    },
  };
}
