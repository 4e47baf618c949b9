import type { LedgerEvent, StoredEvent } from "../../model/events.ts";

/**
 * What writing and following share. `failure` is set when a chain held what no state allows, or the session is closed: nothing more is written on top of
 * it, and whoever tries is told what it makes. An error looks for where it comes from when it is made, and nearly nobody writes to what is closed.
 * While own writes are under way, shared events wait in `held`: they may answer what is committed but not folded yet.
 */
export type Link = {
  failure: (() => unknown) | undefined;
  underWay: number;
  readonly held: StoredEvent[];
  take: (stored: StoredEvent) => void;
  /** Folds what other processes recorded before this position. */
  catchUp: (before: number) => Promise<void>;
  /** The session acts on events of other processes. */
  watched: boolean;
  /** Told of every event once it is folded. */
  readonly listeners: Set<(event: LedgerEvent) => void>;
};
