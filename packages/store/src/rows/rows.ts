import { type CallRow, type Holder, isObject, isOpenProposal, type Lists, type SessionRow } from "@assent/core";
import { listsMismatch } from "../files/store-error.ts";
import { NO_HASH } from "../write/chain.ts";

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

/** A call that was proposed; without a row it has ended. `asked` are the questions it waits for. */
export type CallEntry = { readonly row: CallRow | undefined; readonly asked: readonly string[] };

/** The lists that have a table of their own kind of rows. */
export type ListRows = Omit<Lists, "sessions">;

/** Which rows of a list are open. */
export const IS_OPEN: { readonly [K in keyof ListRows]: (row: ListRows[K]) => boolean } = {
  approvals: ({ state }) => state === "open",
  grants: ({ state }) => state === "active",
  proposals: isOpenProposal,
  questions: ({ state }) => state === "open",
};

/** The column by which a list can be searched besides its session, and its value for a row. */
export const SEARCH_COLUMN: {
  readonly [K in keyof ListRows]: { readonly column: "tool" | "call"; readonly value: (row: ListRows[K]) => string };
} = {
  approvals: { column: "tool", value: ({ tool }) => tool },
  grants: { column: "tool", value: ({ tool }) => tool },
  proposals: { column: "tool", value: ({ tool }) => tool },
  questions: { column: "call", value: ({ callId }) => callId },
};

/** Parses a JSON column of a list. Throws `store_corrupt` for anything but an object. */
export function parseRow<Row>(text: string): Row {
  try {
    const value: unknown = JSON.parse(text);
    // Parsing: rows of lists are written as JSON by stored-rows.ts and stored-chains.ts.
    if (isObject(value)) return value as Row;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw listsMismatch({});
}

/** A row of a list: its place in it, and the position of the event that stands. */
export type ListEntry<Row> = { readonly row: Row; readonly first: number; readonly latest: number };

/** Rows by key; what is put is seen by the next `get`, and `unput` takes back the first put of a key. */
export type Table<V> = { get(key: string): V | undefined; put(key: string, value: V): void; unput(key: string): void };

/** Everything that events are folded into. */
export type Rows = {
  readonly chains: Table<ChainEntry>;
  readonly calls: Table<CallEntry>;
} & { readonly [K in keyof ListRows]: Table<ListEntry<ListRows[K]>> };

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
export function makeCachedTable<V>(load: (key: string) => V | undefined): CachedTable<V> {
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
    unput: (key) => {
      known.delete(key);
      changed.delete(key);
    },
    clear: () => {
      known.clear();
      changed.clear();
    },
    size: () => known.size,
  };
}

/** Rows whose changes can be taken back until they are kept. */
export type UndoableRows = Rows & {
  /** What was put so far stays. */
  keep(): void;
  /** Everything put since the last `keep` is taken back. */
  drop(): void;
};

/** Rows that remember how to take back one operation's changes: they count only if the whole operation does. */
export function makeUndoable(rows: Rows): UndoableRows {
  let undo: (() => void)[] = [];
  const table = <V>({ get, put, unput }: Table<V>): Table<V> => ({
    get,
    unput,
    put: (key, value) => {
      const before = get(key);
      undo.push(before === undefined ? () => unput(key) : () => put(key, before));
      put(key, value);
    },
  });
  return {
    chains: table(rows.chains),
    calls: table(rows.calls),
    approvals: table(rows.approvals),
    grants: table(rows.grants),
    proposals: table(rows.proposals),
    questions: table(rows.questions),
    keep: () => {
      undo = [];
    },
    drop: () => {
      for (let step = undo.pop(); step; step = undo.pop()) step();
    },
  };
}
