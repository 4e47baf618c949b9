import type { ApprovalRow, GrantRow } from "@assent/core";
import type { CallEntry, ChainEntry, Listed, Rows, Table } from "./rows.ts";

/** Rows that live in memory alone, for folding a whole store beside its tables. */
export type MemoryRows = Rows & {
  readonly all: {
    readonly chains: ReadonlyMap<string, ChainEntry>;
    readonly calls: ReadonlyMap<string, CallEntry>;
    readonly approvals: ReadonlyMap<string, Listed<ApprovalRow>>;
    readonly grants: ReadonlyMap<string, Listed<GrantRow>>;
  };
};

/** No rows yet. */
export function memoryRows(): MemoryRows {
  const all = {
    chains: new Map<string, ChainEntry>(),
    calls: new Map<string, CallEntry>(),
    approvals: new Map<string, Listed<ApprovalRow>>(),
    grants: new Map<string, Listed<GrantRow>>(),
  };
  return { all, chains: table(all.chains), calls: table(all.calls), approvals: table(all.approvals), grants: table(all.grants) };
}

function table<V>(map: Map<string, V>): Table<V> {
  return { get: (key) => map.get(key), put: (key, value) => map.set(key, value), unput: (key) => map.delete(key) };
}
