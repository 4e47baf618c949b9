import { type CallRow, type Holder, isObject, isOpenProposal, type Lists, type SessionRow } from "@assent/core";
import { listsMismatch } from "../files/store-error.ts";
import { NO_HASH } from "../write/chain.ts";

/** The head of a chain, its writer and its row in the list of sessions. */
export type ChainEntry = {
  readonly session: string;
  readonly seq: number;
  readonly hash: string;
  readonly pos: number;
  /** Position of the first event about it: its place in the list. */
  readonly first: number;
  /** For the shared chain, the store-wide counter. */
  readonly epoch: number;
  readonly holder: Holder | null;
  readonly closed: boolean;
  readonly policySeq: number;
  /** Keeps deadlines if the clock is set back. */
  readonly newestAt: string;
  readonly pruned: boolean;
  readonly row: SessionRow | null;
  /** The newest shared event that changed `row` in memory. */
  readonly named: number;
};

/** Without a row the call has ended. `asked` are its open questions. */
export type CallEntry = { readonly row: CallRow | undefined; readonly asked: readonly string[]; readonly indexed: boolean };

/** Lists whose rows are stored as JSON. */
export type ListRows = Omit<Lists, "sessions">;

export const IS_OPEN: { readonly [K in keyof ListRows]: (row: ListRows[K]) => boolean } = {
  approvals: ({ state }) => state === "open",
  grants: ({ state }) => state === "active",
  proposals: isOpenProposal,
  questions: ({ state }) => state === "open",
};

export const SEARCH_COLUMN: {
  readonly [K in keyof ListRows]: { readonly column: "tool" | "call"; readonly value: (row: ListRows[K]) => string };
} = {
  approvals: { column: "tool", value: ({ tool }) => tool },
  grants: { column: "tool", value: ({ tool }) => tool },
  proposals: { column: "tool", value: ({ tool }) => tool },
  questions: { column: "call", value: ({ callId }) => callId },
};

/** Throws `store_corrupt` for anything but an object. */
export function parseRow<Row>(text: string): Row {
  try {
    const value: unknown = JSON.parse(text);
    // Parsing: the store wrote the row as JSON.
    if (isObject(value)) return value as Row;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw listsMismatch({});
}

export type ListEntry<Row> = { readonly row: Row; readonly first: number; readonly latest: number };

/** `unput` removes a key that was put for the first time. */
export type Table<V> = { get(key: string): V | undefined; put(key: string, value: V): void; unput(key: string): void };

export type Rows = {
  readonly chains: Table<ChainEntry>;
  readonly calls: Table<CallEntry>;
} & { readonly [K in keyof ListRows]: Table<ListEntry<ListRows[K]>> };

const BETWEEN = "\u0000";

export function callKey(session: string, call: string): string {
  return `${session}${BETWEEN}${call}`;
}

export function splitCallKey(key: string): { readonly session: string; readonly call: string } {
  const at = key.indexOf(BETWEEN);
  return { session: key.slice(0, at), call: key.slice(at + 1) };
}

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

export type UndoableRows = Rows & {
  keep(): void;
  drop(): void;
};

/** Lets a failed operation drop its changes. */
export function makeUndoable(rows: Rows): UndoableRows {
  const tables = [
    recordChanges(rows.chains),
    recordChanges(rows.calls),
    recordChanges(rows.approvals),
    recordChanges(rows.grants),
    recordChanges(rows.proposals),
    recordChanges(rows.questions),
  ] as const;
  const [chains, calls, approvals, grants, proposals, questions] = tables;
  return {
    chains,
    calls,
    approvals,
    grants,
    proposals,
    questions,
    keep: () => {
      for (const { changes } of tables) changes.length = 0;
    },
    drop: () => {
      for (const { undo } of tables) undo();
    },
  };
}

type RecordedTable<V> = Table<V> & { readonly changes: unknown[]; undo(): void };

function recordChanges<V>({ get, put, unput }: Table<V>): RecordedTable<V> {
  const changes: { readonly key: string; readonly before: V | undefined }[] = [];
  return {
    get,
    unput,
    put: (key, value) => {
      changes.push({ key, before: get(key) });
      put(key, value);
    },
    changes,
    undo: () => {
      for (let change = changes.pop(); change; change = changes.pop()) {
        if (change.before === undefined) unput(change.key);
        else put(change.key, change.before);
      }
    },
  };
}
