import type { DatabaseSync, SQLInputValue } from "node:sqlite";

/** As much of `DatabaseSync` as the store uses, so that whoever opens it can stand in between. */
export type Database = Pick<DatabaseSync, "exec" | "prepare" | "close" | "isTransaction">;

/** How a database file is opened. It must wait up to `timeout` milliseconds for a lock. */
export type OpenDatabase = (file: string, options: { readonly readOnly: boolean; readonly timeout: number }) => Database;

/** How long an operation waits for another process before it is `store_locked`. */
export const BUSY_MS = 5_000;

/** The runtime's own SQLite, loaded only when a store is opened. */
export async function nodeSqlite(): Promise<OpenDatabase> {
  const { DatabaseSync } = await import("node:sqlite");
  return (file, options) => new DatabaseSync(file, options);
}

/** A prepared statement whose rows have one known shape. */
export type Query<Row> = {
  get(...values: SQLInputValue[]): Row | undefined;
  all(...values: SQLInputValue[]): Row[];
  iterate(...values: SQLInputValue[]): Iterable<Row>;
  run(...values: SQLInputValue[]): unknown;
};

/** Prepares a statement. The tables are strict, so the shape of a row is that of the columns asked for. */
export function query<Row>(database: Database, sql: string): Query<Row> {
  // Parsing: the one place where rows get their type.
  return database.prepare(sql) as unknown as Query<Row>;
}

/** Runs `work` between BEGIN and COMMIT; a throw leaves the database as it was. */
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
