import { type Ledger, type LedgerError, messageOf } from "@assent/core";
import { nodeSqlite, query } from "../database/database.ts";
import { makeSessionLocks } from "../files/session-lock.ts";
import type { StoreWarning } from "../files/state-directory.ts";
import { watchCommits } from "../files/watch.ts";
import { makeDamageRecord } from "../read/damage.ts";
import { makeFollowers } from "../read/followers.ts";
import { makeLedgerReader } from "../read/ledger-reading.ts";
import { makeEventReads } from "../read/read-events.ts";
import { liveness, type StartOf, thisPlace } from "../write/lease.ts";
import { makeLedgerWriter } from "../write/ledger-writing.ts";
import { type OpenStore, type OpenStoreOptions, openStore } from "./open-store.ts";

/** The options of `openLedger`. */
export type OpenLedgerOptions = OpenStoreOptions & {
  /** Like `Processes.startOf`. */
  readonly startOf?: StartOf;
  /** Called with later warnings. */
  readonly onWarning?: (warning: StoreWarning) => void;
};

/** What a durable ledger has in addition to the port. */
export type StoreExtras = {
  readonly directory: string;
  /** More may be added while the ledger is open. */
  readonly warnings: readonly StoreWarning[];
  /** Why the ledger is read-only, if it is. */
  readonly refusal: LedgerError | undefined;
};

/** Opens or creates the ledger of a state directory. Throws `LedgerError`. */
export async function openLedger({ startOf, onWarning, ...options }: OpenLedgerOptions): Promise<Ledger & StoreExtras> {
  const store = await openStore(options);
  const { database, storeId, paths, warnings, refusal } = store;
  const reading = makeEventReads(database, storeId);
  const damage = makeDamageRecord();
  const isLive = liveness(thisPlace(), startOf);
  const now = makeNow(store);
  const warn = (warning: StoreWarning): void => {
    warnings.push(warning);
    onWarning?.(warning);
  };
  const locks = makeSessionLocks(store, nodeSqlite);
  const followers = makeFollowers({
    head: reading.head,
    watch: (changed, lost) => watchCommits(store, changed, lost),
    failed: (error) => warn({ type: "subscriber_failed", message: `A subscriber failed: ${messageOf(error)}` }),
  });
  const { close, ...writing } = makeLedgerWriter(store, {
    reading,
    damage,
    isLive,
    now,
    tryLock: locks.tryLock,
    committed: followers.wake,
  });
  let open = true;
  return {
    durable: true,
    storeId,
    directory: paths.directory,
    warnings,
    refusal,
    ...writing,
    ...makeLedgerReader(store, { reading, damage, followers, isLive, now, warn }),
    close: async () => {
      if (!open) return;
      open = false;
      followers.clear();
      await close().finally(() => {
        locks.close();
        database.close();
      });
    },
  };
}

/** Uses the newest recorded time if the clock was set back, so that no deadline is extended. */
function makeNow({ database, time }: OpenStore): () => string {
  const newest = query<{ at: string | null }>(
    database,
    `select max(at) as at from (select newest_at as at from sessions
     union all select e.at from sessions s join events e on e.session = s.session and e.seq > s.seq)`,
  );
  return () => {
    const clock = time();
    const stored = newest.get()?.at ?? "";
    return stored > clock ? stored : clock;
  };
}
