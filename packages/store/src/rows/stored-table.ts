import type { Table } from "./rows.ts";

/** Loads rows on first use and keeps them between transactions. */
export type StoredTable<V> = Table<V> & {
  /** `everything` includes rows that may lag. */
  readonly flush: (everything: boolean) => void;
  readonly clear: () => void;
};

export type StoredTableOptions<V> = {
  readonly load: (key: string) => V | undefined;
  readonly write: (key: string, value: V, everything: boolean) => void;
  /** A flush forgets unneeded rows above this number. */
  readonly kept: number;
  readonly isNeeded?: (value: V) => boolean;
};

export const KEPT_ROWS = 10_000;

export function makeStoredTable<V>({ load, write, kept, isNeeded = () => false }: StoredTableOptions<V>): StoredTable<V> {
  const known = new Map<string, V | undefined>();
  const changed = new Map<string, V>();
  const shrink = (): void => {
    for (const [key, value] of known) if (value === undefined || !isNeeded(value)) known.delete(key);
    if (known.size > kept) known.clear();
  };
  return {
    get: (key) => {
      const value = known.get(key);
      if (value !== undefined || known.has(key)) return value;
      const loaded = load(key);
      known.set(key, loaded);
      return loaded;
    },
    put: (key, value) => {
      known.set(key, value);
      changed.set(key, value);
    },
    unput: (key) => {
      known.delete(key);
      changed.delete(key);
    },
    clear: () => {
      known.clear();
      changed.clear();
    },
    flush: (everything) => {
      if (changed.size === 0) return;
      for (const [key, value] of changed) write(key, value, everything);
      changed.clear();
      if (known.size > kept) shrink();
    },
  };
}
