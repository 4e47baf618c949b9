import type { CallEntry, ChainEntry, Listed, ListRows, Rows, Table } from "./rows.ts";

/** Rows that live in memory alone, for folding a whole store beside its tables. */
export type MemoryRows = Rows & {
  readonly all: {
    readonly chains: ReadonlyMap<string, ChainEntry>;
    readonly calls: ReadonlyMap<string, CallEntry>;
  } & { readonly [K in keyof ListRows]: ReadonlyMap<string, Listed<ListRows[K]>> };
};

/** No rows yet. */
export function memoryRows(): MemoryRows {
  const all = {
    chains: new Map<string, ChainEntry>(),
    calls: new Map<string, CallEntry>(),
    approvals: new Map<string, Listed<ListRows["approvals"]>>(),
    grants: new Map<string, Listed<ListRows["grants"]>>(),
    proposals: new Map<string, Listed<ListRows["proposals"]>>(),
    questions: new Map<string, Listed<ListRows["questions"]>>(),
  };
  return {
    all,
    chains: table(all.chains),
    calls: table(all.calls),
    approvals: table(all.approvals),
    grants: table(all.grants),
    proposals: table(all.proposals),
    questions: table(all.questions),
  };
}

function table<V>(map: Map<string, V>): Table<V> {
  return { get: (key) => map.get(key), put: (key, value) => map.set(key, value), unput: (key) => map.delete(key) };
}
