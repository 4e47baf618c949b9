import { type Holder, type Json, type Ledger, snapshotName } from "@assent/core";
import type { StoreWarning } from "@assent/store";
import {
  blobRefs,
  checkEvent,
  checkedBytes,
  type EventColumns,
  type makeDamageRecord,
  readSnapshot,
  SNAPSHOT_VERSION,
  type SnapshotRow,
  snapshotWarning,
  withBlobs,
} from "@assent/store/parts";
import type { Link } from "../connect/link.ts";
import { EVENT_SELECT } from "../rows/load-rows.ts";
import type { Followers } from "./followers.ts";
import { readPending } from "./pending.ts";
import { type EventPages, openPages } from "./read-events.ts";

export type LedgerReader = Pick<Ledger, "read" | "subscribe" | "pending" | "latest" | "resolve" | "blob" | "head">;

export type LedgerReaderOptions = {
  readonly link: Link;
  readonly storeId: string;
  readonly damage: ReturnType<typeof makeDamageRecord>;
  readonly followers: Followers;
  readonly isGone: (holder: Holder) => boolean;
  readonly warn: (warning: StoreWarning) => void;
};

export function makeLedgerReader({ link, storeId, damage, followers, isGone, warn }: LedgerReaderOptions): LedgerReader {
  const guard = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      damage.noted(error);
      throw error;
    }
  };
  const guarded = ({ next }: EventPages): EventPages => ({ next: (until) => guard(() => next(until)) });
  const loadBlobs = async (shas: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> => {
    const { rows } = await link.run((connection) =>
      connection.query<{ readonly sha: string; readonly bytes: Uint8Array }>("select sha, bytes from blobs where sha = any($1)", [shas]),
    );
    return new Map(rows.map(({ sha, bytes }) => [sha, new Uint8Array(bytes)]));
  };
  const head = (): Promise<number> => readHead(link);
  return {
    read: async function* (from, filter = {}) {
      const { next } = guarded(await openPages(link, storeId, from, filter));
      const until = await head();
      for (let events = await next(until); events.length > 0; events = await next(until)) yield* events;
    },
    subscribe: (from, filter, sink, failed) =>
      followers.add(async () => guarded(await openPages(link, storeId, from, filter)), sink, failed),
    pending: (kind, page = {}) => guard(() => readPending(link, kind, page, isGone)),
    latest: (session) =>
      guard(async () => {
        const stored = await readLatest(link, storeId, session);
        if (!stored || !("fault" in stored)) return stored;
        warn(snapshotWarning(session, stored.fault));
        return undefined;
      }),
    resolve: async <T extends Json>(value: T): Promise<T> => {
      const shas = [...blobRefs(value)].map(({ sha }) => sha);
      if (shas.length === 0) return value;
      const blobs = await loadBlobs(shas);
      return withBlobs(value, (sha) => blobs.get(sha)) as T; // only references to blobs are replaced, so the shape stays
    },
    blob: async (sha) => checkedBytes(sha, (await loadBlobs([sha])).get(sha)),
    head,
  };
}

export async function readHead(link: Link): Promise<number> {
  const { rows } = await link.run((connection) => connection.query<{ readonly pos: number }>("select pos from counter"));
  return rows[0]?.pos ?? 0;
}

async function readLatest(link: Link, storeId: string, session: string): Promise<ReturnType<typeof readSnapshot> | undefined> {
  const [stored, recorded] = await link.run((connection) =>
    Promise.all([
      connection.query<SnapshotRow & { readonly found: string | null }>(
        `select s.session, s.seq, s.hash, s.version, s.state, e.hash as found from snapshots s left join events e on e.session = s.session and e.seq = s.seq
         where s.session = $1 and s.version = $2`,
        [session, SNAPSHOT_VERSION],
      ),
      connection.query<EventColumns>(`select ${EVENT_SELECT} from events e where naming = $1 order by pos desc limit 1`, [
        snapshotName(session),
      ]),
    ]),
  );
  const row = stored.rows[0];
  const event = recorded.rows[0];
  return row && readSnapshot(row, { recorded: event && checkEvent(event, storeId), hash: row.found ?? undefined });
}
