/** A whole ledger, to be written to another database with its hash chains. */
export type LedgerCopy = {
  /** The id of the store is part of every hash, so the copy keeps it. */
  readonly store: string;
  /** Position of the newest checkpoint. */
  readonly checkpoint: string | undefined;
  readonly pages: AsyncIterable<CopiedPage>;
};

/** Rows of one table, with the columns of `COPIED_COLUMNS`. */
export type CopiedPage = { readonly table: CopiedTable; readonly rows: readonly (readonly unknown[])[] };

/** The tables of a ledger that are copied. Others belong to one database. */
export type CopiedTable = "events" | "sessions" | "approvals" | "grants" | "proposals" | "questions" | "snapshots" | "blobs" | "blob_uses";

const LIST_COLUMNS: readonly string[] = ["id", "first", "latest", "session", "tool", "open", "row"];

/** The columns of each table, in the order of copied rows. */
export const COPIED_COLUMNS: Readonly<Record<CopiedTable, readonly string[]>> = {
  events: ["pos", "session", "seq", "epoch", "at", "type", "v", "body", "prev", "hash", "call", "naming"],
  sessions: ["session", "seq", "hash", "pos", "first", "epoch", "policy_seq", "newest_at", "closed", "pruned", "holder", "row"],
  approvals: LIST_COLUMNS,
  grants: LIST_COLUMNS,
  proposals: LIST_COLUMNS,
  questions: ["id", "first", "latest", "session", "call", "open", "row"],
  snapshots: ["session", "seq", "hash", "version", "state"],
  blobs: ["sha", "bytes"],
  blob_uses: ["session", "sha"],
};

/** The tables in the order in which they are copied. */
export const COPIED_TABLES: readonly CopiedTable[] = Object.freeze(Object.keys(COPIED_COLUMNS) as CopiedTable[]);

export const COPY_PAGE = 500;

/** What a ledger says about where it is, if it is a copy. The next opening cancels open approvals and unused answers. */
export const COPIED_PLACE = "copied";
