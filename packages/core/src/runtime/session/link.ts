import type { LedgerEvent, StoredEvent } from "../../model/events.ts";

/** State shared by writer and follower. */
export type Link = {
  /** Makes the error for every further write, once the state is invalid or the session is closed. */
  failure: (() => unknown) | undefined;
  underWay: number;
  /** Shared events that wait for own writes in flight, because they may answer what is not folded yet. */
  readonly held: StoredEvent[];
  take: (stored: StoredEvent) => void;
  /** Folds events other processes recorded before this position. */
  catchUp: (before: number) => Promise<void>;
  watched: boolean;
  readonly listeners: Set<(event: LedgerEvent) => void>;
};
