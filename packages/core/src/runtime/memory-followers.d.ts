import type { Subscription } from "../ledger-port.ts";
import type { StoredEvent } from "../model/events.ts";
import type { Reader } from "./memory-chains.ts";
/** Those who are told of new events: each reads on from its own place, so a slow one holds up nobody and costs no memory. */
export type Followers = {
  readonly add: (next: Reader, sink: (event: StoredEvent) => void) => Subscription;
  /** Something was written. */
  readonly wake: () => void;
  readonly clear: () => void;
};
/** Delivers after the writer's turn, never inside it: a sink may append without finding a ledger half written. */
export declare function makeFollowers(): Followers;
