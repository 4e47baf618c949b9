import type { CachedTable, Table } from "./rows.ts";

/** Rows to keep in memory between transactions. */
export const KEPT_ROWS = 10_000;

/** Rows of a table, kept between transactions. */
export type StoredTable<V> = Table<V> & {
  /** Writes changed rows; `everything` includes rows that may lag. */
  readonly flush: (everything: boolean) => void;
  readonly clear: () => void;
};

export type StoredTableOptions<V> = { readonly write: (key: string, value: V, everything: boolean) => void; readonly kept: number };

export function makeStoredTable<V>(rows: CachedTable<V>, { write, kept }: StoredTableOptions<V>): StoredTable<V> {
  return {
    get: rows.get,
    put: rows.put,
    unput: rows.unput,
    clear: rows.clear,
    flush: (everything) => {
      if (rows.changed.size === 0) return;
      for (const [key, value] of rows.changed) write(key, value, everything);
      rows.changed.clear();
      if (rows.size() > kept) rows.clear();
    },
  };
}
