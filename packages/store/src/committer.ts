import { type Durability, LedgerError } from "@assent/core";
import type { Database } from "./database.ts";
import type { StatePaths } from "./state-paths.ts";
import { storeError } from "./store-error.ts";
import type { Writing } from "./writing.ts";

/** Runs steps in one transaction, or none of them. */
export type Committer = {
  /** Returns the bytes stored. Throws the ledger's word for whatever went wrong, and then nothing is stored. */
  readonly commit: (durability: Durability, steps: readonly (() => void)[]) => number;
  /** Remembers a fault; one of those that do not pass refuses every later commit. */
  readonly fault: (error: unknown) => void;
  /** Refuses every commit from now on. */
  readonly refuse: (error: LedgerError) => void;
  readonly faulty: () => boolean;
};

/** Faults that make a store read-only for this process: it no longer knows what is on disk. */
const FOR_GOOD: readonly string[] = ["store_io", "store_readonly"];

/** What a committer works on; `finish` is called inside each transaction, after its steps. */
export type CommitterOptions = {
  readonly database: Database;
  readonly paths: StatePaths;
  readonly writing: Writing;
  readonly finish: () => void;
};

/** The one place where a transaction begins and ends. */
export function makeCommitter({ database, paths, writing, finish }: CommitterOptions): Committer {
  let refusal: LedgerError | undefined;
  let synchronous: Durability | undefined;
  const fault = (error: unknown): void => {
    if (error instanceof LedgerError && FOR_GOOD.includes(error.type)) refusal ??= error;
  };
  const transaction = (durability: Durability, steps: readonly (() => void)[]): number => {
    if (durability !== synchronous) database.exec(`pragma synchronous=${durability}`); // not possible inside a transaction
    synchronous = durability;
    database.exec("begin immediate");
    writing.begin();
    for (const step of steps) step();
    finish();
    const bytes = writing.flush();
    database.exec("commit");
    return bytes;
  };
  const rollBack = (): void => {
    writing.reset();
    try {
      if (database.isTransaction) database.exec("rollback");
    } catch (error) {
      refusal ??= new LedgerError(
        "store_io",
        `Could not roll back the ledger: ${String(error)}. Nothing more will run. Then: assent verify`,
      );
    }
  };
  return {
    commit: (durability, steps) => {
      if (refusal) throw refusal;
      try {
        return transaction(durability, steps);
      } catch (cause) {
        const error = storeError(cause, paths);
        rollBack();
        fault(error);
        throw error;
      }
    },
    fault,
    refuse: (error) => {
      refusal ??= error;
    },
    faulty: () => refusal !== undefined,
  };
}
