import { type Database, query } from "./database.ts";
import { primaryCode, SQLITE, sqliteCode } from "./sqlite-code.ts";

export function* readUntilMalformed<Row>(rows: () => Iterable<Row>, broken: () => void): Generator<Row> {
  try {
    yield* rows();
  } catch (error) {
    if (!isMalformed(error)) throw error;
    broken();
  }
}

export function isMalformed(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== undefined && primaryCode(code) === SQLITE.CORRUPT;
}

export function isMalformedFile(database: Database): boolean {
  try {
    return query<{ integrity_check: string }>(database, "pragma integrity_check(1)").get()?.integrity_check !== "ok";
  } catch (error) {
    if (sqliteCode(error) !== undefined) return true;
    throw error;
  }
}
