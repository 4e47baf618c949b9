import { type Call } from "./call.ts";
import type { EventBodies, LedgerEvent } from "./events.ts";
/** What a session is, as far as anything still depends on it: never the message history. */
export type SessionState = {
  /** Last sequence folded of the session's own chain. */
  seq: number;
  /** Position in the store up to which the shared chain is folded. */
  shared: number;
  /** The newest time any folded event carries: a clock set back never lengthens a deadline. */
  at: string;
  created: EventBodies["session.created"] | undefined;
  closed: EventBodies["session.closed"] | undefined;
  mode: string;
  model: string | null;
  /** Revision of the policy the session is under. */
  policy: string;
  turn: number;
  /** Calls that have not ended, by id. */
  readonly calls: Map<string, Call>;
  /** How often each id was given; an id that is here and not in `calls` has ended. */
  readonly ids: Map<string, number>;
  /** Fingerprints of unsafe calls that ended `unknown` and that no person has answered for since. */
  readonly unknown: Set<string>;
  /** Fingerprints a person rejected since the last user message. */
  readonly rejected: Set<string>;
};
/** An event that is not legal in the state it meets: the record is corrupt from there. */
export declare class IllegalEvent extends Error {
  readonly seq: number;
  readonly type: string;
  readonly state: string;
  constructor(
    event: {
      readonly seq: number;
      readonly type: string;
      readonly session: string;
    },
    state: string,
  );
}
/** The state before the first event. */
export declare function emptySession(): SessionState;
/**
 * Folds one event of the session's chain, or of the shared chain where it names the session, into the state it owns.
 * Total and deterministic: the same events in the same order give an equal state; an illegal one throws `IllegalEvent` and changes nothing.
 */
export declare function fold(state: SessionState, event: LedgerEvent): void;
