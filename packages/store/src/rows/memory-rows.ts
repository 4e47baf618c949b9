import type { CallEntry, ChainEntry, ListEntry, ListRows, Rows, Table } from "./rows.ts";

export type MemoryRows = Rows & {
  readonly all: {
    readonly chains: ReadonlyMap<string, ChainEntry>;
    readonly calls: ReadonlyMap<string, CallEntry>;
  } & { readonly [K in keyof ListRows]: ReadonlyMap<string, ListEntry<ListRows[K]>> };
};

export function makeMemoryRows(): MemoryRows {
  const all = {
    chains: new Map<string, ChainEntry>(),
    calls: new Map<string, CallEntry>(),
    approvals: new Map<string, ListEntry<ListRows["approvals"]>>(),
    grants: new Map<string, ListEntry<ListRows["grants"]>>(),
    proposals: new Map<string, ListEntry<ListRows["proposals"]>>(),
    questions: new Map<string, ListEntry<ListRows["questions"]>>(),
  };
  return {
    all,
    chains: makeTable(all.chains),
    calls: makeTable(all.calls),
    approvals: makeTable(all.approvals),
    grants: makeTable(all.grants),
    proposals: makeTable(all.proposals),
    questions: makeTable(all.questions),
  };
}

function makeTable<V>(map: Map<string, V>): Table<V> {
  return { get: (key) => map.get(key), put: (key, value) => map.set(key, value), unput: (key) => map.delete(key) };
}
