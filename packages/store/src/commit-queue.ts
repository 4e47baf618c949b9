import type { Durability } from "@assent/core";
import { LedgerError } from "@assent/core";
import type { Database } from "./database.ts";
import { type StatePaths } from "./state-directory.ts";
import { storeError } from "./store-error.ts";
import type { Writing } from "./writing.ts";

/** Operations in the order they were issued, committed together by tick. */
export type CommitQueue = {
  /**
   * Runs `operation` in the next transaction. It stages through `Writing`, or throws a `LedgerError` and then nothing of it is stored.
   * Resolves after the commit, at this durability or a higher one.
   */
  readonly submit: <T>(durability: Durability, operation: () => T) => Promise<T>;
  /** From now on every operation is refused with this error, unless the fault is one that passes. */
  readonly fault: (error: unknown) => void;
  readonly faulty: () => boolean;
  /** Commits what is waiting and takes nothing more. */
  readonly close: () => void;
};

/** What a queue works on. */
export type CommitQueueOptions = {
  readonly database: Database;
  readonly paths: StatePaths;
  readonly writing: Writing;
  /** Called inside each transaction, after its operations. */
  readonly finish: () => void;
  /** Called after each commit with the bytes it stored. */
  readonly committed: (bytes: number) => void;
};

type Waiting = {
  readonly durability: Durability;
  readonly run: () => void;
  readonly settle: () => void;
  readonly fail: (error: unknown) => void;
};

/** Faults that make a store read-only for this process: it no longer knows what is on disk. */
const FOR_GOOD: readonly string[] = ["store_io", "store_readonly", "store_newer"];

/** Group commit: one transaction per tick, as durable as its most demanding operation. */
export function makeCommitQueue({ database, paths, writing, finish, committed }: CommitQueueOptions): CommitQueue {
  let waiting: Waiting[] = [];
  let refusal: LedgerError | undefined;
  let closed = false;
  let synchronous: Durability | undefined;
  const fault = (error: unknown): void => {
    if (error instanceof LedgerError && FOR_GOOD.includes(error.type)) refusal ??= error;
  };
  const durable = (batch: readonly Waiting[]): void => {
    const wanted = batch.some(({ durability }) => durability === "full") ? "full" : "normal";
    if (wanted !== synchronous) database.exec(`pragma synchronous=${wanted}`);
    synchronous = wanted;
  };
  const commit = (batch: readonly Waiting[]): number => {
    durable(batch);
    database.exec("begin immediate");
    writing.begin();
    for (const { run } of batch) run();
    finish();
    const bytes = writing.flush();
    database.exec("commit");
    return bytes;
  };
  const rollBack = (cause: unknown): unknown => {
    writing.reset();
    const error = storeError(cause, paths);
    try {
      if (database.isTransaction) database.exec("rollback");
    } catch (again) {
      refusal = asRefusal(storeError(again, paths));
    }
    fault(error);
    return error;
  };
  const flush = (): void => {
    const batch = waiting;
    if (batch.length === 0) return;
    waiting = [];
    let bytes = 0;
    try {
      if (refusal) throw refusal;
      bytes = commit(batch);
    } catch (cause) {
      const error = cause === refusal ? cause : rollBack(cause);
      for (const { fail } of batch) fail(error);
      return;
    }
    for (const { settle } of batch) settle();
    committed(bytes);
  };
  const submit = <T>(durability: Durability, operation: () => T): Promise<T> => {
    if (closed) return Promise.reject(new Error("The ledger is closed."));
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    if (waiting.length === 0) setImmediate(flush);
    waiting.push({ durability, fail: reject, ...attempt(writing, operation, { resolve, reject }) });
    return promise;
  };
  return {
    submit,
    fault,
    faulty: () => refusal !== undefined,
    close: () => {
      flush();
      closed = true;
    },
  };
}

type Settling<T> = { readonly resolve: (value: T) => void; readonly reject: (error: unknown) => void };

/** Runs an operation inside the transaction and keeps its outcome until the commit: nobody is told before. */
function attempt<T>(writing: Writing, operation: () => T, { resolve, reject }: Settling<T>): Pick<Waiting, "run" | "settle"> {
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

function asRefusal(error: unknown): LedgerError {
  return error instanceof LedgerError ? error : new LedgerError("store_io", `The ledger could not roll back: ${String(error)}`);
}
