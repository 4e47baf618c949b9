import type { ApprovalRow, CallRow, GrantRow, Holder, SessionRow } from "@assent/core";
import { NO_HASH } from "./chain.ts";

/** One chain: its head, who may append to it, and how the list of sessions shows it. */
export type ChainEntry = {
  readonly session: string;
  readonly seq: number;
  readonly hash: string;
  /** Position of its newest event. */
  readonly pos: number;
  /** Position of the first event that concerned it: its place in the list. */
  readonly first: number;
  /** Epoch of its writer; of the shared chain: the store-wide counter. */
  readonly epoch: number;
  readonly holder: Holder | null;
  /** Its newest event is `session.closed`. */
  readonly closed: boolean;
  /** Sequence of its newest `policy.changed`; 0: none. */
  readonly policySeq: number;
  /** The latest `at` of its events, so that a clock set back extends no deadline. */
  readonly newestAt: string;
  readonly pruned: boolean;
  readonly row: SessionRow | null;
  /** Position of the newest shared event that changed `row` while it was in memory. */
  readonly named: number;
};

/** A call that was proposed; without a row it has ended. */
export type CallEntry = { readonly row: CallRow | undefined };

/** A row of a list: its place in it, and the position of the event that stands. */
export type Listed<Row> = { readonly row: Row; readonly first: number; readonly latest: number };

/** Rows by key; what is put is seen by the next `get`. */
export type Table<V> = { get(key: string): V | undefined; put(key: string, value: V): void };

/** Everything that events are folded into. */
export type Rows = {
  readonly chains: Table<ChainEntry>;
  readonly calls: Table<CallEntry>;
  readonly approvals: Table<Listed<ApprovalRow>>;
  readonly grants: Table<Listed<GrantRow>>;
};

const BETWEEN = "\u0000";

/** The key of a call in the table of calls. */
export function callKey(session: string, call: string): string {
  return `${session}${BETWEEN}${call}`;
}

/** Session and call of a key. */
export function splitCallKey(key: string): { readonly session: string; readonly call: string } {
  const at = key.indexOf(BETWEEN);
  return { session: key.slice(0, at), call: key.slice(at + 1) };
}

/** A chain before its first event. */
export function newChain(session: string, first: number): ChainEntry {
  return {
    session,
    seq: 0,
    hash: NO_HASH,
    pos: 0,
    first,
    epoch: 0,
    holder: null,
    closed: false,
    policySeq: 0,
    newestAt: "",
    pruned: false,
    row: null,
    named: 0,
  };
}

/** Rows loaded when first asked for; `changed` are those to be written back. */
export type CachedTable<V> = Table<V> & { readonly changed: Map<string, V>; clear(): void; size(): number };

/** A table in front of a slower one. */
export function cachedTable<V>(load: (key: string) => V | undefined): CachedTable<V> {
  const known = new Map<string, V | undefined>();
  const changed = new Map<string, V>();
  return {
    changed,
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
    clear: () => {
      known.clear();
      changed.clear();
    },
    size: () => known.size,
  };
}

/** Changes that can still be dropped: `keep` puts them into the table below, `drop` forgets them. */
export type Layer = Rows & { keep(): void; drop(): void };

/** A layer over rows: one operation's changes, kept only if the whole operation is. */
export function layerOver(rows: Rows): Layer {
  const chains = layerTable(rows.chains);
  const calls = layerTable(rows.calls);
  const approvals = layerTable(rows.approvals);
  const grants = layerTable(rows.grants);
  const all = [chains, calls, approvals, grants];
  return {
    chains,
    calls,
    approvals,
    grants,
    keep: () => {
      for (const table of all) table.keep();
    },
    drop: () => {
      for (const table of all) table.drop();
    },
  };
}

function layerTable<V>(below: Table<V>): Table<V> & { keep(): void; drop(): void } {
  const mine = new Map<string, V>();
  return {
    get: (key) => mine.get(key) ?? below.get(key),
    put: (key, value) => {
      mine.set(key, value);
    },
    keep: () => {
      if (mine.size === 0) return;
      for (const [key, value] of mine) below.put(key, value);
      mine.clear();
    },
    drop: () => mine.clear(),
  };
}
