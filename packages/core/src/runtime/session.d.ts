import type { ClaimLost, Durability, Ledger, Subscription } from "../ledger-port.ts";
import { type Draft, type EventBodies, type EventType, type Holder, type LedgerEvent } from "../model/events.ts";
import { type SessionState } from "../model/fold.ts";
import type { Clock, Ids } from "../ports.ts";
/** What a session stands on. */
export type SessionPorts = {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly ids: Ids;
};
/** A new session's first record; what is left out has a plain default. */
export type NewSession = Pick<EventBodies["session.created"], "cwd"> & Partial<EventBodies["session.created"]>;
/** A new session, or an existing one's id. */
export type SessionOptions =
  | {
      readonly holder: Holder;
      readonly create: NewSession;
    }
  | {
      readonly holder: Holder;
      readonly id: string;
      readonly takeOver?: boolean;
    };
/** A session that this process writes: its lease, and the live fold over its events. */
export type Session = {
  readonly id: string;
  readonly ledger: Ledger;
  readonly holder: Holder;
  readonly state: SessionState;
  /** True until the record of whoever held the session before was put in order. */
  readonly needsRecovery: boolean;
  /** A draft of one event, dated now. */
  readonly draft: <T extends EventType>(type: T, body: EventBodies[T]) => Draft<T>;
  /** Appends and folds; resolves after the commit. */
  readonly record: (events: readonly Draft[], durability: Durability) => Promise<readonly LedgerEvent[]>;
  readonly claim: (claimed: Draft<"call.claimed">) => Promise<
    | {
        readonly won: LedgerEvent;
      }
    | {
        readonly lost: ClaimLost;
      }
  >;
  /** Calls `changed` after every event of the shared chain that may concern an open call, until it is closed. */
  readonly watch: (changed: (event: LedgerEvent) => void) => Subscription;
  /** Resolves when every event up to this position that names the session is folded. Only while watching. */
  readonly caughtUp: (pos: number) => Promise<void>;
  readonly close: (reason: EventBodies["session.closed"]["reason"], exit: number) => Promise<void>;
};
/** Creates a session, or opens an existing one for writing. `session_not_found` and `session_in_use` are `LedgerError`s. */
export declare function openSession(ports: SessionPorts, options: SessionOptions): Promise<Session>;
