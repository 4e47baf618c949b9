import type { LedgerEvent, StoredEvent } from "../model/events.ts";

/**
 * What writing and following share. `failure` is set when the shared chain held what no state allows: nothing more is written on top of it.
 * While own writes are under way, shared events wait in `held`: they may answer what is committed but not folded yet.
 */
export type Link = {
  failure: unknown;
  underWay: number;
  readonly held: StoredEvent[];
  take: (stored: StoredEvent) => void;
  /** Folds what other processes said before this position, however late we are told of it. */
  catchUp: (before: number) => Promise<void>;
  isWatching: () => boolean;
  /** Told of every event once it is folded. */
  readonly listeners: Set<(event: LedgerEvent) => void>;
};
