import type { DatabaseSync, SQLInputValue } from "node:sqlite";

/** The part of `DatabaseSync` that the store uses. Tests wrap it. */
export type Database = Pick<DatabaseSync, "exec" | "prepare" | "close" | "isTransaction">;

/** Opens a database file. It must wait up to `timeout` milliseconds for a lock. */
export type OpenDatabase = (file: string, options: { readonly readOnly: boolean; readonly timeout: number }) => Database;

/** Longer waits for another process fail with `store_locked`. */
export const BUSY_MS = 5_000;

export async function nodeSqlite(): Promise<OpenDatabase> {
  const { DatabaseSync } = await import("node:sqlite");
  return (file, options) => new DatabaseSync(file, options);
}

export type Query<Row> = {
  get(...values: SQLInputValue[]): Row | undefined;
  all(...values: SQLInputValue[]): Row[];
  iterate(...values: SQLInputValue[]): Iterable<Row>;
  run(...values: SQLInputValue[]): unknown;
};

/** The tables are strict, so the columns determine the shape of a row. */
export function query<Row>(database: Database, sql: string): Query<Row> {
  // Parsing: rows get their type here.
  return database.prepare(sql) as unknown as Query<Row>;
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
