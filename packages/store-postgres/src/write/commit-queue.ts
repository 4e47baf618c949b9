import { type Durability, LedgerError } from "@assent/core";
import type { Link } from "../connect/link.ts";
import type { RowKeys } from "../rows/loaded-rows.ts";
import type { CommittedBatch, Operation, Transactions, WriteBatch, WriteContext } from "./transaction.ts";

/** Commits operations in groups: those of one tick, and those that came while the previous group was written. */
export type CommitQueue = {
  /** Resolves after the commit. If the operation throws a `LedgerError`, nothing of it is stored. */
  readonly submit: <T>(
    durability: Durability,
    wanted: RowKeys,
    operation: (context: WriteContext) => T,
    prepare?: Operation["prepare"],
  ) => Promise<T>;
  /** Records where the database is; cancels unused answers if it was restored, or if a mark says so. */
  readonly settle: (isRestored: boolean) => Promise<void>;
  /** Commits what is queued and refuses more. */
  readonly close: () => Promise<void>;
};

type QueuedOperation = Operation & { readonly resolve: (value: unknown) => void; readonly reject: (error: unknown) => void };

export type CommitQueueOptions = {
  readonly link: Link;
  readonly transactions: Transactions;
  /** Called after a commit and before its operations resolve; may throw. */
  readonly committed: (batch: CommittedBatch) => void;
};

const MOST = 500;

/** True if the server stored nothing of a group, maybe because it refused one operation: a row of another role, or a character that it cannot store. */
function isRefusal(error: unknown): boolean {
  return error instanceof LedgerError && (error.type === "store_role_refused" || error.type === "store_io");
}

export function makeCommitQueue({ link, transactions, committed }: CommitQueueOptions): CommitQueue {
  let waiting: QueuedOperation[] = [];
  let running: Promise<void> | undefined;
  let closed = false;
  const commit = (batch: WriteBatch): Promise<CommittedBatch> => link.run((connection) => transactions.commit(connection, batch));
  const commitGroup = async (group: readonly QueuedOperation[]): Promise<void> => {
    const batch: WriteBatch = { operations: group, unsure: undefined };
    try {
      const done = await commit(batch).catch(async (error: unknown) => {
        if (group.length === 1 || batch.unsure || !isRefusal(error)) throw error;
        for (const one of group) await commitGroup([one]); // in their order, so that a refused one fails alone
        return undefined;
      });
      if (done) committed(done);
      for (const [at, result] of done?.results.entries() ?? []) {
        if ("error" in result) group[at]?.reject(result.error);
        else group[at]?.resolve(result.value);
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  };
  const drain = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      const group = waiting.slice(0, MOST);
      waiting = waiting.slice(MOST);
      await commitGroup(group);
    }
    running = undefined;
  };
  return {
    submit: <T>(durability: Durability, wanted: RowKeys, run: (context: WriteContext) => T, prepare?: Operation["prepare"]) => {
      if (closed) return Promise.reject(new LedgerError("store_lost", "The ledger is closed."));
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      waiting.push({ durability, wanted, prepare, run, resolve, reject });
      running ??= drain();
      return promise as Promise<T>; // the value is what `run` returned
    },
    settle: async (isRestored) => {
      committed(await commit({ operations: [], isRestored, unsure: undefined }));
    },
    close: async () => {
      closed = true;
      await running;
    },
  };
}
