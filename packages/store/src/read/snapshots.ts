import {
  canonicalJson,
  emptySession,
  fold,
  fromSnapshot,
  IllegalEvent,
  type Json,
  LedgerError,
  parseEvent,
  type SessionState,
  SHARED,
  type StoredEvent,
  snapshotName,
  toSnapshot,
} from "@assent/core";
import { type Database, query } from "../database/database.ts";
import type { StoreWarning } from "../files/state-directory.ts";
import { stageShared } from "../write/append.ts";
import { sha256 } from "../write/chain.ts";
import { makeDraft } from "../write/staging.ts";
import type { TransactionWriter } from "../write/writing.ts";
import type { EventReads } from "./read-events.ts";

/** Other versions are ignored. Since version 2 the chain records each snapshot's digest. */
export const SNAPSHOT_VERSION = 2;

export type SnapshotRow = {
  readonly session: string;
  readonly seq: number;
  readonly hash: string;
  readonly version: number;
  readonly state: string;
};

/** `fault`: why the snapshot is not used. */
export type StoredSnapshot = { readonly seq: number; readonly state: Json } | { readonly fault: string };

/** Records the digest on the shared chain. Call it in a transaction. Throws `cursor_ahead` if the chain is shorter. */
export function makeSnapshotWriter(database: Database, writing: TransactionWriter, time: () => string) {
  const hashAt = query<{ hash: string }>(database, "select hash from events where session = ? and seq = ?");
  const insert = query(database, "insert or replace into snapshots (session, seq, hash, version, state) values (?, ?, ?, ?, ?)");
  return (session: string, seq: number, state: string): void => {
    const event = hashAt.get(session, seq);
    if (!event) throw new LedgerError("cursor_ahead", `Session ${session} has no event ${seq} to keep a snapshot of.`, { session, seq });
    stageShared(writing, makeDraft("store.snapshot", { session, seq, hash: event.hash, state: sha256(state) }, time()));
    insert.run(session, seq, event.hash, SNAPSHOT_VERSION, state);
  };
}

export function snapshotText(state: Json): string {
  return canonicalJson(state);
}

export type SnapshotReader = {
  readonly latest: (session: string) => StoredSnapshot | undefined;
  readonly all: () => Iterable<{ readonly session: string; readonly seq: number; readonly stored: StoredSnapshot }>;
};

export function makeSnapshotReader(database: Database, reading: EventReads): SnapshotReader {
  const columns = "session, seq, hash, version, state";
  const one = query<SnapshotRow>(database, `select ${columns} from snapshots where session = ? and version = ${SNAPSHOT_VERSION}`);
  const every = query<SnapshotRow>(database, `select ${columns} from snapshots where version = ${SNAPSHOT_VERSION} order by session`);
  const hashAt = query<{ hash: string }>(database, "select hash from events where session = ? and seq = ?");
  const check = (row: SnapshotRow): StoredSnapshot =>
    readSnapshot(row, { recorded: reading.newestNaming(snapshotName(row.session)), hash: hashAt.get(row.session, row.seq)?.hash });
  return {
    latest: (session) => {
      const row = one.get(session);
      return row && check(row);
    },
    all: function* () {
      for (const row of every.iterate()) yield { session: row.session, seq: row.seq, stored: check(row) };
    },
  };
}

/** `recorded` is the newest event about the session's snapshot, `hash` that of the event at its sequence. */
export type SnapshotContext = { readonly recorded: StoredEvent | undefined; readonly hash: string | undefined };

/** Uses a snapshot only if the chain records its digest. */
export function readSnapshot({ session, seq, hash, state }: SnapshotRow, context: SnapshotContext): StoredSnapshot {
  const event = context.recorded && parseEvent(context.recorded);
  if (event?.type !== "store.snapshot") return { fault: "the record does not mention it" };
  const { body } = event;
  if (body.session !== session || body.seq !== seq || body.hash !== hash) return { fault: "the record mentions another one" };
  if (context.hash !== hash) return { fault: "it does not belong to the session's chain" };
  if (sha256(state) !== body.state) return { fault: "its content was changed" };
  // Parsing: the digest matched, so this is what the store wrote.
  return { seq, state: JSON.parse(state) as Json };
}

export function snapshotWarning(session: string, fault: string): StoreWarning {
  const message = `The snapshot of session ${session} was ignored: ${fault}. Its events are used instead. Check: assent verify`;
  return { type: "snapshot_mismatch", message };
}

/** Compares a snapshot with the events of its session. True also for a form that this version does not use. */
export function matchesFold(
  { seq, state }: { readonly seq: number; readonly state: Json },
  recordedAt: number,
  events: () => Iterable<StoredEvent>,
): boolean {
  const claimed = fromSnapshot(state);
  if (!claimed) return true;
  if (!(claimed.shared < recordedAt)) return false;
  try {
    const folded = foldUntil(events(), { seq, shared: claimed.shared });
    return comparableText(toSnapshot(folded)) === comparableText(state);
  } catch (error) {
    if (error instanceof IllegalEvent) return false;
    throw error;
  }
}

function foldUntil(events: Iterable<StoredEvent>, until: { readonly seq: number; readonly shared: number }): SessionState {
  const state = emptySession();
  for (const stored of events) {
    const isIncluded = stored.session === SHARED ? stored.pos <= until.shared : stored.seq <= until.seq;
    const event = isIncluded ? parseEvent(stored) : undefined;
    if (event) fold(state, event);
  }
  state.shared = until.shared;
  return state;
}

/** Compares lists as sets, because a live session may learn of answers in another order. */
function comparableText(state: Json): string {
  const members = Object.entries(state as Readonly<Record<string, Json>>);
  return canonicalJson(Object.fromEntries(members.map(([key, value]) => [key, Array.isArray(value) ? sortJson(value) : value])));
}

function sortJson(list: readonly Json[]): readonly Json[] {
  return list.map((item) => canonicalJson(item)).sort();
}
