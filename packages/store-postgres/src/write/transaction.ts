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
import { isConflict, serverError, USE_SESSION_MODE } from "../connect/failure.ts";
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
  /** Adds a statement to the same transaction. */
  readonly also: (text: string, values: readonly unknown[]) => void;
  /** Records the heads of all changed chains at the end of the transaction. */
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

/** The result of an operation, once its transaction is committed. */
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
  readonly pid: number;
  readonly place: string | null;
  readonly checkpoint: string | null;
};

/** The lock on the counter makes positions follow the order of commits. */
const LOCK = `select pos, ${NOW} as now, newest_at, 'events'::regclass::oid::int8 as table, pg_backend_pid() as pid,
  (select value from meta where key = 'place') as place, (select value from meta where key = 'checkpoint') as checkpoint from counter for update`;

const SET_META = "insert into meta (key, value) values ($1, $2) on conflict (key) do update set value = excluded.value";

type Statement = readonly [text: string, values: readonly unknown[]];

/** What operations add to a transaction besides their events. */
type TransactionDraft = { readonly statements: Statement[]; mark: Mark | undefined; wantsCheckpoint: boolean };

/** The store after the last commit of this process. The loaded rows are those of `pos`. */
type KnownStore = {
  readonly pos: number;
  readonly connection: Connection;
  readonly table: number;
  readonly checkpoint: number;
  /** No other process wrote between the last two commits. */
  readonly isAlone: boolean;
};

/** An operation needs what only a transaction with the lock has: the time, leases, more statements or a checkpoint. */
class NeedsLock extends Error {}

function needLock(): never {
  throw new NeedsLock();
}

/** Rows stay loaded between transactions as long as no other process writes. */
export function makeTransactions({ store, channel, placeOf }: TransactionsOptions): Transactions {
  const rows = makeLoadedRows();
  let known: KnownStore | undefined;
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
  };
  /** Remembers the mark for the next claim, which compares it. */
  const rememberMark = (mark: Mark | undefined): void => {
    if (mark) rows.hashes.loaded(String(mark.pos), mark.hash);
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
      const { text, values } = buildFlush({ staged, rows, pos, channel });
      staged = [];
      const sent = connection.query(text, values);
      rows.flushed();
      await sent;
    }
  };
  /** What an operation decides with, given what only a transaction with the lock has. */
  const contextOf = (draft: TransactionDraft, locked: Pick<WriteContext, "place" | "now" | "also" | "checkpoint">): WriteContext => ({
    ...{ staging, rows, ...locked },
    eventAt: (at) => readEvent(rows, at),
    hashAt: (at) => rows.hashes.get(String(at)),
    mark: (due) => {
      if (draft.mark === undefined || due.pos > draft.mark.pos) draft.mark = due;
    },
  });
  /** Keeps loaded rows only if no other process wrote since. A crashed server may have lost commits, and reached this position again. */
  const startAt = (connection: Connection, head: number): { readonly isAlone: boolean } => {
    const isAlone = known?.pos === head && known.connection === connection;
    if (!isAlone) reset();
    rows.leases.clear();
    newest = undefined;
    pos = head;
    return { isAlone };
  };
  const decideAll = async (
    connection: Connection,
    operations: readonly Operation[],
    context: WriteContext,
    { statements }: TransactionDraft,
  ): Promise<readonly OperationResult[]> => {
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
    return results;
  };
  /** Returns the position of the newest checkpoint. */
  const addCheckpoint = async (connection: Connection, last: number, context: WriteContext, draft: TransactionDraft): Promise<number> => {
    if (!draft.wantsCheckpoint && pos - last < CHECKPOINT_EVERY) return last;
    await flush(connection);
    const { rows: heads } = await connection.query<CheckpointHead>(
      "select session, seq, hash from sessions where pos > $1 and session <> $2 order by first",
      [last, SHARED],
    );
    const result = await decide(connection, () => stageCheckpoint(staging, heads, context.now()));
    if ("error" in result) throw result.error;
    const shared = rows.chains.get(SHARED);
    if (draft.wantsCheckpoint && shared) context.mark({ pos: shared.pos, hash: shared.hash });
    context.also(SET_META, ["checkpoint", String(pos)]);
    return pos;
  };
  /** Sends everything that is left together with COMMIT, in one round trip. */
  const commitDraft = async (
    connection: Connection,
    batch: WriteBatch,
    done: CommittedBatch,
    statements: readonly Statement[],
  ): Promise<void> => {
    if (newest) batch.unsure = { ...done, last: newest };
    await settleAll([...statements.map(([text, values]) => connection.query(text, values)), flush(connection), connection.query("commit")]);
    batch.unsure = undefined;
    rememberMark(done.mark);
  };
  /** Locks the counter, decides every operation, and commits. */
  const transact = async (connection: Connection, batch: WriteBatch): Promise<CommittedBatch> => {
    const { operations } = batch;
    const database = placeOf(connection);
    const locked = await beginLocked(connection, isSynced(operations));
    if (locked.pid !== database.pid) throw pooledConnection();
    const stored = await findStored(connection, batch);
    if (stored) {
      reset();
      await connection.query("commit");
      return stored;
    }
    const { isAlone } = startAt(connection, locked.pos);
    const place = placeText(database, locked.table);
    const draft: TransactionDraft = { statements: [], mark: undefined, wantsCheckpoint: false };
    const context = contextOf(draft, {
      place,
      now: () => (locked.newest_at > locked.now ? locked.newest_at : locked.now),
      also: (text, values) => void draft.statements.push([text, values]),
      checkpoint: () => {
        draft.wantsCheckpoint = true;
      },
    });
    if (locked.place !== place) context.also(SET_META, ["place", place]);
    const isRestored = batch.isRestored === true || (locked.place !== null && locked.place !== place);
    const cancelled = isRestored ? await cancelUnused(connection, context, decide) : undefined;
    const results = await decideAll(connection, operations, context, draft);
    const checkpoint = await addCheckpoint(connection, Number(locked.checkpoint ?? 0), context, draft);
    const done: CommittedBatch = { results, mark: draft.mark, cancelled };
    await commitDraft(connection, batch, done, draft.statements);
    known = { pos, connection, table: locked.table, checkpoint, isAlone };
    return done;
  };
  /**
   * Decides over the loaded rows and stores with one statement, in one round trip. The statement stores nothing if another process wrote meanwhile, so
   * results count only once it has stored something. Undefined if the batch needs `transact`.
   */
  const commitAtOnce = async (connection: Connection, batch: WriteBatch): Promise<CommittedBatch | undefined> => {
    const { operations } = batch;
    if (known?.connection !== connection || !known.isAlone || batch.unsure || !operations.every(isPlain)) return;
    const { table, checkpoint, pos: from } = known;
    const draft: TransactionDraft = { statements: [], mark: undefined, wantsCheckpoint: false };
    const context = contextOf(draft, { place: "", now: needLock, also: needLock, checkpoint: needLock });
    newest = undefined;
    pos = from;
    let results: readonly OperationResult[] = [];
    try {
      results = await decideAll(connection, operations, context, draft);
    } catch (error) {
      if (!(error instanceof NeedsLock)) throw error;
      newest = undefined;
    }
    if (!newest || pos - checkpoint >= CHECKPOINT_EVERY) return void reset();
    const done: CommittedBatch = { results, mark: draft.mark, cancelled: undefined };
    const { text, values } = buildFlush(
      { staged, rows, pos, channel },
      { pos: from, table, pid: placeOf(connection).pid, isSynced: isSynced(operations) },
    );
    batch.unsure = { ...done, last: newest };
    const { rows: stored } = await connection.query(text, values);
    batch.unsure = undefined;
    if (stored.length === 0) return void reset();
    staged = [];
    rows.flushed();
    rememberMark(draft.mark);
    known = { ...known, pos };
    return done;
  };
  return {
    commit: async (connection, batch) => {
      for (let left = 5; ; left -= 1) {
        try {
          return (await commitAtOnce(connection, batch)) ?? (await transact(connection, batch));
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

/** Settings such as the schema and the durability belong to one process of the server. */
function pooledConnection(): LedgerError {
  const text = "Between Assent and the database is a pooler in transaction mode. Nothing ran.";
  return serverError("store_unsafe_location", `${text} ${USE_SESSION_MODE}`);
}

/** As durable as its most demanding operation. */
function isSynced(operations: readonly Operation[]): boolean {
  return operations.some(({ durability }) => durability === "full");
}

function isPlain({ prepare, wanted }: Operation): boolean {
  return prepare === undefined && wanted.leases === undefined;
}

function hasChanges(rows: LoadedRows): boolean {
  return [rows.chains, rows.approvals, rows.grants, rows.proposals, rows.questions].some((table) => table.changes().size > 0);
}

async function beginLocked(connection: Connection, synced: boolean): Promise<LockedStore> {
  const [, , { rows }] = await Promise.all([
    connection.query("begin"),
    synced ? undefined : connection.query("set local synchronous_commit = off"),
    connection.query<LockedStore>(LOCK),
  ]);
  const [locked] = rows;
  if (!locked) throw new LedgerError("store_corrupt", "The ledger has lost its counter. Restore a backup.");
  return locked;
}

/** What an earlier attempt stored, if its answer was lost. */
async function findStored(connection: Connection, batch: WriteBatch): Promise<CommittedBatch | undefined> {
  const { unsure } = batch;
  batch.unsure = undefined;
  return unsure && (await isStored(connection, unsure)) ? unsure : undefined;
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
    `select row from approvals where open = 1 or position('"approved"' in row) > 0 order by first`,
  );
  const approvals = found
    .map(({ row }) => parseRow<Parameters<typeof cancelAnswers>[1][number]>(row))
    .filter(({ state, consumed }) => state === "open" || (state === "approved" && !consumed));
  const result = await decide(connection, () => cancelAnswers(staging, approvals, now()));
  if ("error" in result) throw result.error;
  return approvals.length;
}
