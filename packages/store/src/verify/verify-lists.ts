import { canonicalJson, LedgerError, SHARED, type StoredEvent, snapshotName } from "@assent/core";
import { type Database, query } from "../database/database.ts";
import { type EventReads, makeEventReads } from "../read/read-events.ts";
import { makeSnapshotReader, matchesFold, type StoredSnapshot } from "../read/snapshots.ts";
import { type ChainEntry, IS_OPEN, type ListEntry, type ListRows, parseRow, SEARCH_COLUMN } from "../rows/rows.ts";
import { type ChainColumns, makeChainReader } from "../rows/stored-chains.ts";
import { sha256 } from "../write/chain.ts";
import { type Finding, finding } from "./finding.ts";
import type { Scan, UsedBlob } from "./scan.ts";

/** Skips lists of damaged chains. */
export function checkLists(database: Database, scan: Scan, only: string | undefined): readonly Finding[] {
  if (scan.chains.get(SHARED)?.bad) return [];
  const { read } = makeChainReader(database);
  const sessions = query<ChainColumns>(database, "select * from sessions").all();
  const stored = sessions.map((columns) => ({ session: columns.session, read: () => read(columns) }));
  return [
    ...compareLists(scan, only, { sessions: stored, rows: (table) => query<ListColumns>(database, selectList(table)).iterate() }),
    ...checkProcesses(database, (session) => isJudged(scan, only, session)),
  ];
}

export type StoredLists = {
  readonly sessions: Iterable<{ readonly session: string; readonly read: () => ChainEntry }>;
  readonly rows: (table: keyof ListRows) => Iterable<ListColumns>;
};

export function selectList(table: keyof ListRows): string {
  return `select id, first, latest, session, ${SEARCH_COLUMN[table].column} as searched, open, row from ${table}`;
}

export function compareLists(scan: Scan, only: string | undefined, { sessions, rows }: StoredLists): readonly Finding[] {
  if (scan.chains.get(SHARED)?.bad) return [];
  const judged: IsChecked = (session) => isJudged(scan, only, session);
  const { all } = scan.rows;
  return [
    ...checkSessions(sessions, all.chains, judged),
    ...compareList({ table: "approvals", stored: rows("approvals") }, all.approvals, judged),
    ...compareList({ table: "grants", stored: rows("grants") }, all.grants, judged),
    ...compareList({ table: "proposals", stored: rows("proposals") }, all.proposals, judged),
    ...compareList({ table: "questions", stored: rows("questions") }, all.questions, judged),
  ];
}

function isJudged({ chains }: Scan, only: string | undefined, session: string | undefined): boolean {
  return (only === undefined || session === only) && (session === undefined || chains.get(session)?.bad !== true);
}

/** A command of a session must not be able to hide its process start. */
function* checkProcesses(database: Database, isJudged: IsChecked): Generator<Finding> {
  const missing = query<{ session: string; seq: number }>(
    database,
    `select session, seq from events where type in ('call.started', 'task.process') and json_valid(body) and exists (
      select 1 from (select json_extract(body, '$.pid') as pid union all select json_extract(value, '$.pid') from json_each(body, '$.others')) as started
      where not exists (select 1 from processes where processes.pid = started.pid and processes.pos = events.pos))`,
  );
  for (const { session, seq } of missing.all())
    if (isJudged(session)) yield finding("index_mismatch", { session, seq }, "The process it records is not in the table of processes.");
}

type IsChecked = (session: string | undefined) => boolean;

function* checkSessions(stored: StoredLists["sessions"], expected: Scan["rows"]["all"]["chains"], isJudged: IsChecked): Generator<Finding> {
  const seen = new Set<string>();
  for (const { session, read } of stored) {
    seen.add(session);
    const made = expected.get(session);
    if (isJudged(session) && !(made && isSameChain(read, made))) {
      yield finding("index_mismatch", { session }, "Its row in the list of sessions does not match its events.");
    }
  }
  for (const session of expected.keys()) {
    if (!seen.has(session) && isJudged(session)) yield finding("index_mismatch", { session }, "It is not in the list of sessions.");
  }
}

function isSameChain(read: () => ChainEntry, made: ChainEntry): boolean {
  const compared = ({ named: _named, ...chain }: ChainEntry): object => chain;
  return isReadable(() => isSameJson(compared(read()), compared(made)));
}

export type ListColumns = {
  readonly id: string;
  readonly first: number;
  readonly latest: number;
  readonly session: string | null;
  readonly searched: string;
  readonly open: number;
  readonly row: string;
};

type StoredList<K> = { readonly table: K; readonly stored: Iterable<ListColumns> };

function* compareList<K extends keyof ListRows>(
  { table, stored }: StoredList<K>,
  expected: ReadonlyMap<string, ListEntry<ListRows[K]>>,
  isJudged: IsChecked,
): Generator<Finding> {
  const seen = new Set<string>();
  for (const one of stored) {
    seen.add(one.id);
    const made = expected.get(one.id);
    const session = (made ? made.row.session : one.session) ?? undefined;
    if (!(made && isSameRow(one, table, made)) && isJudged(session)) yield listMismatch(table, one.id, session);
  }
  for (const [id, { row }] of expected) if (!seen.has(id) && isJudged(row.session)) yield listMismatch(table, id, row.session);
}

/** An approval listed under another session would be missing in its own. */
function isSameRow<K extends keyof ListRows>(stored: ListColumns, table: K, { row, first, latest }: ListEntry<ListRows[K]>): boolean {
  const { id, row: text, ...columns } = stored;
  const expected = {
    ...{ first, latest, session: row.session ?? null },
    ...{ searched: SEARCH_COLUMN[table].value(row), open: Number(IS_OPEN[table](row)) },
  };
  return isSameJson(columns, expected) && isReadable(() => isSameJson(parseRow<ListRows[K]>(text), row));
}

function isReadable(compared: () => boolean): boolean {
  try {
    return compared();
  } catch (error) {
    if (error instanceof LedgerError) return false;
    throw error;
  }
}

function listMismatch(table: string, id: string, session: string | undefined): Finding {
  return finding("index_mismatch", session === undefined ? {} : { session }, `'${id}' in the list of ${table} does not match the events.`);
}

function isSameJson(one: object, other: object): boolean {
  return canonicalJson(one) === canonicalJson(other);
}

export function* checkBlobs(database: Database, used: ReadonlyMap<string, UsedBlob>): Generator<Finding> {
  const select = query<{ bytes: Uint8Array }>(database, "select bytes from blobs where sha = ?");
  for (const blob of used.values()) yield* checkBlob(blob, select.get(blob.sha)?.bytes);
}

export function* checkBlob({ sha, size, session, seq }: UsedBlob, bytes: Uint8Array | undefined): Generator<Finding> {
  if (!bytes) yield finding("blob_missing", { session, seq }, `The value ${sha} is not there.`);
  else if ((size !== undefined && bytes.length !== size) || sha256(bytes) !== sha)
    yield finding("blob_corrupt", { session, seq }, `The value ${sha} is damaged.`);
}

export function* checkSnapshots(
  database: Database,
  { chains }: Scan,
  { store, only }: { readonly store: string; readonly only: string | undefined },
): Generator<Finding> {
  if (chains.get(SHARED)?.bad) return;
  const reading = makeEventReads(database, store);
  for (const { session, seq, stored } of makeSnapshotReader(database, reading).all()) {
    if ((only !== undefined && session !== only) || chains.get(session)?.bad) continue;
    const recordedAt = reading.newestNaming(snapshotName(session))?.pos ?? 0;
    yield* checkSnapshot({ session, seq, stored, recordedAt }, () => eventsOf(reading, session));
  }
}

export type CheckedSnapshot = {
  readonly session: string;
  readonly seq: number;
  readonly stored: StoredSnapshot;
  /** Position of the event that records it. */
  readonly recordedAt: number;
};

export function* checkSnapshot(
  { session, seq, stored, recordedAt }: CheckedSnapshot,
  events: () => Iterable<StoredEvent>,
): Generator<Finding> {
  const fault =
    "fault" in stored ? stored.fault : matchesFold(stored, recordedAt, events) ? undefined : "it is not what the session's events say";
  if (fault !== undefined) yield finding("snapshot_mismatch", { session, seq }, `The snapshot cannot be used: ${fault}.`);
}

function* eventsOf(reading: EventReads, session: string): Generator<StoredEvent> {
  const next = reading.reader({ pos: 0 }, { session, naming: session });
  const end = reading.head();
  for (let stored = next(end); stored; stored = next(end)) yield stored;
}
