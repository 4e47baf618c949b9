import { type Durability, LedgerError, messageOf } from "@assent/core";
import type { Database } from "../database/database.ts";
import { primaryCode, SQLITE, sqliteCode } from "../database/sqlite-code.ts";
import type { DueMark } from "../files/marks.ts";
import type { StatePaths } from "../files/state-paths.ts";
import { storeError } from "../files/store-error.ts";
import type { StoreFiles } from "../files/store-files.ts";
import type { TransactionWriter } from "./writing.ts";

export type Committer = {
  /** Returns the bytes stored. Throws if nothing was stored. */
  readonly commit: (durability: Durability, steps: readonly (() => void)[]) => number;
  /** A permanent fault refuses every later commit. */
  readonly fault: (error: unknown) => void;
  readonly refuse: (error: LedgerError) => void;
  readonly faulty: () => boolean;
};

/** After these faults the process no longer knows what is on disk. */
const FOR_GOOD: readonly string[] = ["store_io", "store_readonly", "store_lost"];

export type CommitterOptions = {
  readonly database: Database;
  readonly paths: StatePaths;
  readonly writing: TransactionWriter;
  readonly files: StoreFiles;
  readonly finish: () => void;
  /** Written before the commit is reported. */
  readonly mark: Pick<DueMark, "reset" | "write">;
};

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
    if (durability === "full") files.check(); // again: if the files were removed meanwhile, no effect starts
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
  /** Undefined, with nothing stored, if another process wrote since the rows were read. */
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

/** The rows in memory are older than the database. */
class OutdatedRows extends Error {
  readonly errcode = SQLITE.CONSTRAINT;
}

function isConflict(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== undefined && primaryCode(code) === SQLITE.CONSTRAINT;
}

/** Nothing is written after a commit with an unknown outcome. */
function unknownFailure(cause: unknown): LedgerError {
  return unsureWrite(`Could not write the ledger (${messageOf(cause)}).`, cause);
}

function unsureWrite(what: string, cause: unknown): LedgerError {
  const error = new LedgerError("store_io", `${what} Nothing more will run. Check the disk, then: assent verify`);
  error.cause = cause;
  return error;
}
