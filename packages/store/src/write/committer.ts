import { type Durability, LedgerError, messageOf } from "@assent/core";
import type { Database } from "../database/database.ts";
import { primaryCode, SQLITE, sqliteCode } from "../database/sqlite-code.ts";
import type { DueMark } from "../files/marks.ts";
import type { StatePaths } from "../files/state-paths.ts";
import { storeError } from "../files/store-error.ts";
import type { StoreFiles } from "../files/store-files.ts";
import type { TransactionWriter } from "./writing.ts";

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
const FOR_GOOD: readonly string[] = ["store_io", "store_readonly", "store_lost"];

/** What a committer works on; `finish` is called inside each transaction, after its steps. */
export type CommitterOptions = {
  readonly database: Database;
  readonly paths: StatePaths;
  readonly writing: TransactionWriter;
  readonly files: StoreFiles;
  readonly finish: () => void;
  /** The mark that a transaction leaves outside the database. It is written before anyone learns of the commit. */
  readonly mark: Pick<DueMark, "reset" | "write">;
};

/** The one place where a transaction begins and ends. */
export function makeCommitter({ database, paths, writing, files, finish, mark }: CommitterOptions): Committer {
  let refusal: LedgerError | undefined;
  let synchronous: Durability | undefined;
  const fault = (error: unknown): void => {
    if (error instanceof LedgerError && FOR_GOOD.includes(error.type)) refusal ??= error;
  };
  const commitNow = (): void => {
    try {
      database.exec("commit");
    } catch (cause) {
      throw storeError(cause, paths) === cause ? unknownFailure(cause) : cause;
    }
  };
  const writeMark = (): void => {
    try {
      mark.write();
    } catch (cause) {
      throw unsureWrite(`Could not write a mark beside the ledger (${messageOf(cause)}).`, cause);
    }
  };
  const transaction = (durability: Durability, steps: readonly (() => void)[]): number => {
    if (durability !== synchronous) database.exec(`pragma synchronous=${durability}`); // not possible inside a transaction
    synchronous = durability;
    database.exec("begin immediate");
    files.check();
    mark.reset();
    writing.resume();
    for (const step of steps) step();
    if (writing.isOutdated()) throw new OutdatedRows();
    finish();
    const bytes = writing.flush();
    commitNow();
    files.check(); // again: if the files were removed meanwhile, nothing is acknowledged
    writeMark();
    return bytes;
  };
  const rollBack = (): void => {
    writing.reset();
    try {
      if (database.isTransaction) database.exec("rollback");
    } catch (error) {
      refusal ??= unsureWrite(`Could not roll back the ledger (${messageOf(error)}).`, error);
    }
  };
  const fail = (cause: unknown): never => {
    const error = storeError(cause, paths);
    fault(error);
    throw error;
  };
  /** Undefined: another process wrote since the rows were read. Nothing is stored, and the rows are read again. */
  const attempt = (durability: Durability, steps: readonly (() => void)[]): number | undefined => {
    try {
      return transaction(durability, steps);
    } catch (cause) {
      rollBack();
      return isConflict(cause) ? undefined : fail(cause);
    }
  };
  return {
    commit: (durability, steps) => {
      if (refusal) throw refusal;
      return attempt(durability, steps) ?? attempt(durability, steps) ?? fail(new OutdatedRows());
    },
    fault,
    refuse: (error) => {
      refusal ??= error;
    },
    faulty: () => refusal !== undefined,
  };
}

/** The rows a transaction was run on are not those of the database. As an error of SQLite it would be a violated constraint. */
class OutdatedRows extends Error {
  readonly errcode = SQLITE.CONSTRAINT;
}

function isConflict(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== undefined && primaryCode(code) === SQLITE.CONSTRAINT;
}

/** A commit that failed in a way nobody has a name for: what it did is not known, so nothing is written after it. */
function unknownFailure(cause: unknown): LedgerError {
  return unsureWrite(`Could not write the ledger (${messageOf(cause)}).`, cause);
}

function unsureWrite(what: string, cause: unknown): LedgerError {
  const error = new LedgerError("store_io", `${what} Nothing more will run. Check the disk, then: assent verify`);
  error.cause = cause;
  return error;
}
