import { canonicalJson, type Json, LedgerError } from "@assent/core";
import { type Database, query } from "./database.ts";

/** Raised when the form of the snapshots table's state changes; others are ignored. */
const SNAPSHOT_VERSION = 1;

/** What was open at a place of a session's chain. */
export type Snapshots = {
  /** Keeps the state, in place of the one before. To be called in a transaction; `cursor_ahead` when the chain does not reach so far. */
  readonly put: (session: string, seq: number, state: string) => void;
  /** The snapshot, if it still matches the event at its sequence. */
  readonly latest: (session: string) => { readonly seq: number; readonly state: Json } | undefined;
};

/** The state as it is stored. */
export function snapshotText(state: Json): string {
  return canonicalJson(state);
}

/** The snapshots of a database: one for each session, bound to its chain by a hash. */
export function snapshotsOf(database: Database): Snapshots {
  const hashAt = query<{ hash: string }>(database, "select hash from events where session = ? and seq = ?");
  const insert = query(database, "insert or replace into snapshots (session, seq, hash, version, state) values (?, ?, ?, ?, ?)");
  const select = query<{ seq: number; hash: string; version: number; state: string }>(
    database,
    "select seq, hash, version, state from snapshots where session = ?",
  );
  return {
    put: (session, seq, state) => {
      const event = hashAt.get(session, seq);
      if (!event) throw new LedgerError("cursor_ahead", `Session ${session} has no event ${seq} to keep a snapshot of.`, { session, seq });
      insert.run(session, seq, event.hash, SNAPSHOT_VERSION, state);
    },
    latest: (session) => {
      const found = select.get(session);
      if (!found || found.version !== SNAPSHOT_VERSION || hashAt.get(session, found.seq)?.hash !== found.hash) return undefined;
      // Parsing: the column holds canonical JSON.
      return { seq: found.seq, state: JSON.parse(found.state) as Json };
    },
  };
}
