import { type Database, query } from "./database.ts";
import { primaryCode, SQLITE, sqliteCode } from "./sqlite-code.ts";

/** Rows until SQLite says that its file is malformed; then `broken` is told and there are no more. */
export function* readUntilMalformed<Row>(rows: () => Iterable<Row>, broken: () => void): Generator<Row> {
  try {
    yield* rows();
  } catch (error) {
    if (!isMalformed(error)) throw error;
    broken();
  }
}

/** True for SQLite's word that its file is malformed. */
export function isMalformed(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== undefined && primaryCode(code) === SQLITE.CORRUPT;
}

/** SQLite's own look at its pages and indexes. */
export function isMalformedFile(database: Database): boolean {
  try {
    return query<{ integrity_check: string }>(database, "pragma integrity_check(1)").get()?.integrity_check !== "ok";
  } catch (error) {
    if (sqliteCode(error) !== undefined) return true;
    throw error;
  }
}
