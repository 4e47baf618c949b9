import { LedgerError } from "@assent/core";
import type { CallEntry, ChainEntry, EventColumns, ListEntry, ListRows, Rows, Table } from "@assent/store/parts";

/** Who may write a session, by the clock of the database. */
export type LeaseRow = { readonly epoch: number; readonly lives: boolean; readonly busy: boolean };

/** What decisions read, by table. Contents, events by position and leases are only read. */
export type LoadedValues = {
  readonly chains: ChainEntry;
  readonly calls: CallEntry;
  readonly contents: true;
  readonly events: EventColumns;
  /** By position; also of pruned claims. */
  readonly hashes: string;
  readonly leases: LeaseRow;
} & { readonly [K in keyof ListRows]: ListEntry<ListRows[K]> };

export type RowKeys = { readonly [K in keyof LoadedValues]?: readonly string[] };

/** Decisions are synchronous: one that needs a row that was not loaded stops here, and runs again with it. */
export class MissingRow extends Error {
  readonly table: keyof LoadedValues;
  readonly key: string;
  constructor(table: keyof LoadedValues, key: string) {
    super(`${table} ${key} is not loaded`);
    this.table = table;
    this.key = key;
  }
}

export type LoadedTable<V> = Table<V> & {
  readonly has: (key: string) => boolean;
  /** A row as stored; undefined if there is none, an error if it is damaged. */
  readonly loaded: (key: string, value: V | LedgerError | undefined) => void;
  readonly changes: () => ReadonlyMap<string, V>;
  /** The changes are stored. */
  readonly flushed: () => void;
  readonly clear: () => void;
};

export type LoadedRows = Rows & { readonly [K in keyof LoadedValues]: LoadedTable<LoadedValues[K]> } & {
  readonly clear: () => void;
  readonly flushed: () => void;
};

const KEPT_ROWS = 10_000;

export function makeLoadedRows(): LoadedRows {
  const tables = {
    chains: makeLoadedTable<ChainEntry>("chains"),
    calls: makeLoadedTable<CallEntry>("calls"),
    approvals: makeLoadedTable<ListEntry<ListRows["approvals"]>>("approvals"),
    grants: makeLoadedTable<ListEntry<ListRows["grants"]>>("grants"),
    proposals: makeLoadedTable<ListEntry<ListRows["proposals"]>>("proposals"),
    questions: makeLoadedTable<ListEntry<ListRows["questions"]>>("questions"),
    contents: makeLoadedTable<true>("contents"),
    events: makeLoadedTable<EventColumns>("events"),
    hashes: makeLoadedTable<string>("hashes"),
    leases: makeLoadedTable<LeaseRow>("leases"),
  };
  return {
    ...tables,
    clear: () => {
      for (const table of Object.values(tables)) table.clear();
    },
    flushed: () => {
      for (const table of Object.values(tables)) table.flushed();
      tables.leases.clear(); // they change without a commit of the counter
      tables.events.clear(); // rarely needed again, and large
    },
  };
}

function makeLoadedTable<V>(name: keyof LoadedValues): LoadedTable<V> {
  const known = new Map<string, V | LedgerError | undefined>();
  const changed = new Map<string, V>();
  return {
    has: (key) => known.has(key),
    loaded: (key, value) => void known.set(key, value),
    get: (key) => {
      const value = known.get(key);
      if (value === undefined && !known.has(key)) throw new MissingRow(name, key);
      if (value instanceof LedgerError) throw value;
      return value;
    },
    put: (key, value) => {
      known.set(key, value);
      changed.set(key, value);
    },
    unput: (key) => {
      known.set(key, undefined);
      changed.delete(key);
    },
    changes: () => changed,
    flushed: () => {
      changed.clear();
      if (known.size > KEPT_ROWS) known.clear();
    },
    clear: () => {
      changed.clear();
      known.clear();
    },
  };
}
