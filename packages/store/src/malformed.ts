/** Rows until SQLite says that its file is malformed; then `broken` is told and there are no more. */
export function* untilMalformed<Row>(rows: () => Iterable<Row>, broken: () => void): Generator<Row> {
  try {
    yield* rows();
  } catch (error) {
    if (!isMalformed(error)) throw error;
    broken();
  }
}

/** True for SQLite's word that its file is malformed. */
export function isMalformed(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && typeof error.errcode === "number" && (error.errcode & 0xff) === 11;
}
