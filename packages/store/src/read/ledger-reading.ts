import { setImmediate as nextTurn } from "node:timers/promises";
import type { Holder, Json, Ledger } from "@assent/core";
import { query } from "../database/database.ts";
import type { StoreWarning } from "../files/state-directory.ts";
import { storeError } from "../files/store-error.ts";
import type { OpenStore } from "../open/open-store.ts";
import { checkedBytes, withBlobs } from "../write/blobs.ts";
import type { DamageRecord } from "./damage.ts";
import type { Followers } from "./followers.ts";
import { makeListReader } from "./pending.ts";
import type { EventReader, EventReads } from "./read-events.ts";
import { makeSnapshotReader, snapshotWarning } from "./snapshots.ts";

export type LedgerReader = Pick<Ledger, "read" | "subscribe" | "pending" | "latest" | "resolve" | "blob" | "head">;

export type LedgerReaderOptions = {
  readonly reading: EventReads;
  readonly damage: DamageRecord;
  readonly followers: Followers;
  readonly isLive: (holder: Holder) => boolean;
  readonly now: () => string;
  readonly warn: (warning: StoreWarning) => void;
};

/** Events to read before yielding to the event loop. */
const TURN = 512;

/** Also works on a store that cannot be written. */
export function makeLedgerReader(
  { database, paths }: OpenStore,
  { reading, damage, followers, isLive, now, warn }: LedgerReaderOptions,
): LedgerReader {
  const pending = makeListReader(database, now, isLive);
  const snapshots = makeSnapshotReader(database, reading);
  const bytes = query<{ bytes: Uint8Array }>(database, "select bytes from blobs where sha = ?");
  const guard = <T>(work: () => T): T => {
    try {
      return work();
    } catch (cause) {
      const error = storeError(cause, paths);
      damage.noted(error);
      throw error;
    }
  };
  const guarded = (next: EventReader): EventReader => {
    return (until) => guard(() => next(until));
  };
  return {
    read: async function* (from, filter = {}) {
      const next = guarded(guard(() => reading.reader(from, filter)));
      const until = guard(reading.head);
      let count = 0;
      for (let event = next(until); event; event = next(until)) {
        yield event;
        count += 1;
        if (count % TURN === 0) await nextTurn();
      }
    },
    subscribe: (from, filter, sink, failed) =>
      followers.add({
        ...{ next: guarded(guard(() => reading.reader(from, filter))), sink, failed },
        session: filter.naming === undefined ? filter.session : undefined, // events that name a session are in other sessions
      }),
    pending: async (kind, page = {}) => guard(() => pending(kind, page)),
    latest: async (session) => {
      const stored = guard(() => snapshots.latest(session));
      if (!stored || !("fault" in stored)) return stored;
      warn(snapshotWarning(session, stored.fault));
      return undefined;
    },
    // Only references to blobs are replaced, so the shape stays.
    resolve: async <T extends Json>(value: T) => guard(() => withBlobs(value, (sha) => bytes.get(sha)?.bytes) as T),
    blob: async (sha) => guard(() => checkedBytes(sha, bytes.get(sha)?.bytes)),
    head: async () => guard(reading.head),
  };
}
