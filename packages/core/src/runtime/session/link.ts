import type { LedgerEvent, StoredEvent } from "../../model/events.ts";

/** State shared by writer and follower. */
export type Link = {
  /** Makes the error for every further write. */
  failure: (() => unknown) | undefined;
  underWay: number;
  /** Shared events wait for own writes in flight, which they may answer. */
  readonly held: StoredEvent[];
  take: (stored: StoredEvent) => void;
  /** Folds events other processes recorded before this position. */
  catchUp: (before: number) => Promise<void>;
  watched: boolean;
  readonly listeners: Set<(event: LedgerEvent) => void>;
};
