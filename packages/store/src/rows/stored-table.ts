import type { CachedTable, Table } from "./rows.ts";

/** So many rows are worth their memory between transactions. */
export const KEPT_ROWS = 10_000;

/** Rows of a table of the database, remembered between transactions. */
export type StoredTable<V> = Table<V> & {
  /** Writes what changed; rows that may lag behind are left for later, unless `everything` is wanted. */
  readonly flush: (everything: boolean) => void;
  /** Forgets all rows: they may not be what is stored any more. */
  readonly clear: () => void;
};

/** How rows are written back, and how many are kept. */
export type StoredTableOptions<V> = { readonly write: (key: string, value: V, everything: boolean) => void; readonly kept: number };

/** A table that writes back what was put into it. */
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
