import type { DatabaseSync, SQLInputValue } from "node:sqlite";

/** The part of `DatabaseSync` that the store uses. Tests wrap it. */
export type Database = Pick<DatabaseSync, "exec" | "prepare" | "close" | "isTransaction">;

/** Opens a database file. It must wait up to `timeout` milliseconds for a lock. */
export type OpenDatabase = (file: string, options: { readonly readOnly: boolean; readonly timeout: number }) => Database;

/** Longer waits for another process fail with `store_locked`. */
export const BUSY_MS = 5_000;

/** Node's SQLite, loaded with the first database. */
export const nodeSqlite: OpenDatabase = (file, options) => {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  return new DatabaseSync(file, options);
};

export type Query<Row> = {
  get(...values: SQLInputValue[]): Row | undefined;
  all(...values: SQLInputValue[]): Row[];
  iterate(...values: SQLInputValue[]): Iterable<Row>;
  run(...values: SQLInputValue[]): unknown;
};

/** A statement, prepared at its first use: most processes use half of them. The tables are strict, so the columns determine the shape of a row. */
export function query<Row>(database: Database, sql: string): Query<Row> {
  let prepared: Query<Row> | undefined;
  const statement = (): Query<Row> => {
    prepared ??= database.prepare(sql) as unknown as Query<Row>; // parsing: rows get their type here
    return prepared;
  };
  return {
    get: (...values) => statement().get(...values),
    all: (...values) => statement().all(...values),
    iterate: (...values) => statement().iterate(...values),
    run: (...values) => statement().run(...values),
  };
}

export function transact<T>(database: Database, work: () => T): T {
  database.exec("begin immediate");
  try {
    const result = work();
    database.exec("commit");
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec("rollback");
    throw error;
  }
}
