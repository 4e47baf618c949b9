import { type Durability, LedgerError } from "@assent/core";
import type { Committer } from "./committer.ts";
import type { TransactionWriter } from "./writing.ts";

/** Commits the operations of one tick together, in order. */
export type CommitQueue = {
  /** Resolves after the commit. If the operation throws a `LedgerError`, nothing of it is stored. */
  readonly submit: <T>(durability: Durability, operation: () => T) => Promise<T>;
  /** Commits what is queued and refuses more. */
  readonly close: () => void;
};

type QueuedOperation = {
  readonly durability: Durability;
  readonly run: () => void;
  readonly settle: () => void;
  readonly fail: (error: unknown) => void;
};

export type CommitQueueOptions = {
  readonly committer: Committer;
  readonly writing: TransactionWriter;
  readonly committed: (bytes: number) => void;
};

/** Each transaction is as durable as its most demanding operation. */
export function makeCommitQueue({ committer, writing, committed }: CommitQueueOptions): CommitQueue {
  let waiting: QueuedOperation[] = [];
  let closed = false;
  const flush = (): void => {
    const batch = waiting;
    waiting = [];
    if (batch.length > 0) commitBatch(batch, committer, committed);
  };
  return {
    submit: <T>(durability: Durability, operation: () => T): Promise<T> => {
      if (closed) return Promise.reject(new Error("The ledger is closed."));
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ durability, fail: reject, ...queueOperation(writing, operation, { resolve, reject }) });
      return promise;
    },
    close: () => {
      flush();
      closed = true;
    },
  };
}

function commitBatch(batch: readonly QueuedOperation[], committer: Committer, committed: (bytes: number) => void): void {
  const durability = batch.some((one) => one.durability === "full") ? "full" : "normal";
  let bytes: number;
  try {
    bytes = committer.commit(
      durability,
      batch.map(({ run }) => run),
    );
  } catch (error) {
    for (const { fail } of batch) fail(error);
    return;
  }
  for (const { settle } of batch) settle();
  committed(bytes);
}

type PromiseEnds<T> = { readonly resolve: (value: T) => void; readonly reject: (error: unknown) => void };

function queueOperation<T>(
  writing: TransactionWriter,
  operation: () => T,
  { resolve, reject }: PromiseEnds<T>,
): Pick<QueuedOperation, "run" | "settle"> {
  let settle = (): void => undefined;
  const run = (): void => {
    try {
      const value = operation();
      writing.keep();
      settle = () => resolve(value);
    } catch (error) {
      if (!(error instanceof LedgerError)) throw error;
      writing.drop();
      settle = () => reject(error);
    }
  };
  return { run, settle: () => settle() };
}
