import { type Durability, LedgerError, type LedgerEvent, parseEvent, SHARED } from "@assent/core";
import {
  CHECKPOINT_EVERY,
  type CheckpointHead,
  cancelAnswers,
  type EventStaging,
  type Mark,
  makeEventStaging,
  makeUndoable,
  parseRow,
  type StagedEvent,
  stageCheckpoint,
  toStoredEvent,
} from "@assent/store/parts";
import type { Connection } from "../connect/connection.ts";
import { isConflict } from "../connect/failure.ts";
import { buildFlush } from "../rows/flush-rows.ts";
import { loadRows } from "../rows/load-rows.ts";
import { type LoadedRows, MissingRow, makeLoadedRows, type RowKeys } from "../rows/loaded-rows.ts";
import { joinKeys } from "../rows/wanted-rows.ts";
import { NOW } from "../schema/migrate.ts";
import { type DatabasePlace, placeText } from "../schema/place.ts";

/** What an operation decides with, inside a transaction. */
export type WriteContext = {
  readonly staging: EventStaging;
  readonly rows: LoadedRows;
  /** The database's time, but never earlier than the newest time in the ledger, so that no deadline is extended. */
  readonly now: () => string;
  readonly eventAt: (pos: number) => LedgerEvent | undefined;
  readonly hashAt: (pos: number) => string | undefined;
  /** Leaves a mark after the commit. */
  readonly mark: (mark: Mark) => void;
  /** Another statement of the same transaction. */
  readonly also: (text: string, values: readonly unknown[]) => void;
  /** The heads of all changed chains are recorded at the end of the transaction. */
  readonly checkpoint: () => void;
  readonly place: string;
};

/** Runs without waiting, perhaps several times; a `LedgerError` drops what it staged. */
export type Operation = {
  readonly durability: Durability;
  readonly wanted: RowKeys;
  /** Reads more in the transaction, before `run`. */
  readonly prepare?: ((connection: Connection) => Promise<void>) | undefined;
  readonly run: (context: WriteContext) => unknown;
};

/** What became of an operation once the transaction is committed. */
export type OperationResult = { readonly value: unknown } | { readonly error: LedgerError };

export type CommittedBatch = {
  readonly results: readonly OperationResult[];
  readonly mark: Mark | undefined;
  readonly cancelled: number | undefined;
};

/** A commit whose answer was lost. Its newest event tells whether it happened. */
export type UnsureCommit = CommittedBatch & { readonly last: { readonly session: string; readonly seq: number; readonly hash: string } };

export type TransactionsOptions = {
  readonly store: string;
  readonly channel: string;
  readonly placeOf: (connection: Connection) => DatabasePlace;
};

export type Transactions = {
  /** Throws if nothing was stored, or if that is not known: then it must be called again with the same batch object. */
  readonly commit: (connection: Connection, batch: WriteBatch) => Promise<CommittedBatch>;
};

/** Keeps what is not known between attempts. */
export type WriteBatch = {
  readonly operations: readonly Operation[];
  /** A mark showed that the database was restored. */
  readonly isRestored?: boolean;
  unsure: UnsureCommit | undefined;
};

type LockedStore = {
  readonly pos: number;
  readonly now: string;
  readonly newest_at: string;
  readonly table: number;
  readonly place: string | null;
  readonly checkpoint: string | null;
};

/** The lock on the counter makes positions follow the order of commits. */
const LOCK = `select pos, ${NOW} as now, newest_at, 'events'::regclass::oid::int8 as table,
  (select value from meta where key = 'place') as place, (select value from meta where key = 'checkpoint') as checkpoint from counter for update`;

const SET_META = "insert into meta (key, value) values ($1, $2) on conflict (key) do update set value = excluded.value";

type Statement = readonly [text: string, values: readonly unknown[]];

/** Rows stay loaded between transactions as long as no other process writes. */
export function makeTransactions({ store, channel, placeOf }: TransactionsOptions): Transactions {
  const rows = makeLoadedRows();
  let loadedAt: number | undefined;
  let pos = 0;
  let staged: StagedEvent[] = [];
  let newest: StagedEvent["event"] | undefined;
  const staging = makeEventStaging({
    store,
    rows: makeUndoable(rows),
    head: () => pos,
    refuseMissing: (sha) => {
      if (!rows.contents.get(sha)) throw new LedgerError("blob_missing", `The content ${sha} is named, but was not given.`, { sha });
    },
    insert: (events) => {
      for (const { event, text, blobs } of events) {
        for (const { sha } of blobs) rows.contents.loaded(sha, true);
        rows.events.loaded(String(event.pos), { ...event, body: text });
        rows.hashes.loaded(String(event.pos), event.hash);
      }
      staged.push(...events);
      newest = events.at(-1)?.event ?? newest;
      pos += events.length;
    },
  });
  const reset = (): void => {
    staging.drop();
    rows.clear();
    staged = [];
    newest = undefined;
    loadedAt = undefined;
  };
  /** Runs the operation again with each row that it lacked. */
  const decide = async (connection: Connection, run: () => unknown): Promise<OperationResult> => {
    for (;;) {
      try {
        const value = run();
        staging.keep();
        return { value };
      } catch (error) {
        staging.drop();
        if (error instanceof LedgerError) return { error };
        if (!(error instanceof MissingRow)) throw error;
        await loadRows(connection, rows, { [error.table]: [error.key] });
      }
    }
  };
  const flush = async (connection: Connection): Promise<void> => {
    if (staged.length > 0 || hasChanges(rows)) {
      const { text, values } = buildFlush(staged, rows, pos, channel);
      staged = [];
      const sent = connection.query(text, values);
      rows.flushed();
      await sent;
    }
  };
  const transact = async (connection: Connection, batch: WriteBatch): Promise<CommittedBatch> => {
    const { operations } = batch;
    const durability = operations.some((one) => one.durability === "full") ? "full" : "normal";
    const [, , { rows: locked }] = await Promise.all([
      connection.query("begin"),
      durability === "normal" ? connection.query("set local synchronous_commit = off") : undefined,
      connection.query<LockedStore>(LOCK),
    ]);
    const [now] = locked;
    if (!now) throw new LedgerError("store_corrupt", "The ledger has lost its counter. Restore a backup.");
    if (batch.unsure) {
      const { unsure } = batch;
      batch.unsure = undefined;
      if (await isStored(connection, unsure)) {
        reset();
        await connection.query("commit");
        return unsure;
      }
    }
    if (loadedAt !== now.pos) reset();
    rows.leases.clear();
    newest = undefined;
    pos = now.pos;
    const place = placeText(placeOf(connection), now.table);
    const statements: Statement[] = [];
    let mark: Mark | undefined;
    let wantsCheckpoint = false;
    const context: WriteContext = {
      staging,
      rows,
      place,
      now: () => (now.newest_at > now.now ? now.newest_at : now.now),
      eventAt: (at) => readEvent(rows, at),
      hashAt: (at) => rows.hashes.get(String(at)),
      mark: (due) => {
        if (mark === undefined || due.pos > mark.pos) mark = due;
      },
      also: (text, values) => void statements.push([text, values]),
      checkpoint: () => {
        wantsCheckpoint = true;
      },
    };
    if (now.place !== place) context.also(SET_META, ["place", place]);
    const isRestored = batch.isRestored === true || (now.place !== null && now.place !== place);
    const cancelled = isRestored ? await cancelUnused(connection, context, decide) : undefined;
    await loadRows(connection, rows, joinKeys(operations.map(({ wanted }) => wanted)));
    const results: OperationResult[] = [];
    for (const { prepare, run } of operations) {
      await prepare?.(connection);
      const before = statements.length;
      const result = await decide(connection, () => {
        statements.length = before;
        return run(context);
      });
      if ("error" in result) statements.length = before;
      results.push(result);
    }
    if (wantsCheckpoint || pos - Number(now.checkpoint ?? 0) >= CHECKPOINT_EVERY) {
      await flush(connection);
      const { rows: heads } = await connection.query<CheckpointHead>(
        "select session, seq, hash from sessions where pos > $1 and session <> $2 order by first",
        [Number(now.checkpoint ?? 0), SHARED],
      );
      const result = await decide(connection, () => stageCheckpoint(staging, heads, context.now()));
      if ("error" in result) throw result.error;
      const shared = rows.chains.get(SHARED);
      if (wantsCheckpoint && shared) context.mark({ pos: shared.pos, hash: shared.hash });
      statements.push([SET_META, ["checkpoint", String(pos)]]);
    }
    const done: CommittedBatch = { results, mark, cancelled };
    if (newest) batch.unsure = { ...done, last: newest };
    await settleAll([...statements.map(([text, values]) => connection.query(text, values)), flush(connection), connection.query("commit")]);
    batch.unsure = undefined;
    loadedAt = pos;
    return done;
  };
  return {
    commit: async (connection, batch) => {
      for (let left = 5; ; left -= 1) {
        try {
          return await transact(connection, batch);
        } catch (error) {
          reset();
          if (!connection.isLost()) await connection.query("rollback");
          if (!connection.isLost()) batch.unsure = undefined; // the server answered that it was not committed
          if (left === 0 || !isConflict(error)) throw error;
        }
      }
    },
  };
}

/** The first error is the reason; later statements fail because of it. */
async function settleAll(sent: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(sent)).find((one) => one.status === "rejected");
  if (failed) throw failed.reason;
}

function hasChanges(rows: LoadedRows): boolean {
  return [rows.chains, rows.approvals, rows.grants, rows.proposals, rows.questions].some((table) => table.changes().size > 0);
}

/** The lock was taken before, so the lost transaction has ended. */
async function isStored(connection: Connection, { last }: UnsureCommit): Promise<boolean> {
  const { rows } = await connection.query<{ readonly hash: string }>("select hash from events where session = $1 and seq = $2", [
    last.session,
    last.seq,
  ]);
  return rows[0]?.hash === last.hash;
}

function readEvent(rows: LoadedRows, pos: number): LedgerEvent | undefined {
  const columns = rows.events.get(String(pos));
  return columns && parseEvent(toStoredEvent(columns));
}

type Decide = (connection: Connection, run: () => unknown) => Promise<OperationResult>;

/** A restored or promoted database may lack their use. Returns how many open approvals and unused answers it closed. */
async function cancelUnused(connection: Connection, { staging, now }: WriteContext, decide: Decide): Promise<number> {
  const { rows: found } = await connection.query<{ readonly row: string }>(
    `select row from approvals where open = 1 or (row::json->>'state' = 'approved' and (row::json->>'consumed')::boolean is false) order by first`,
  );
  const approvals = found.map(({ row }) => parseRow<Parameters<typeof cancelAnswers>[1][number]>(row));
  const result = await decide(connection, () => cancelAnswers(staging, approvals, now()));
  if ("error" in result) throw result.error;
  return approvals.length;
}
