import { canonicalJson, LedgerError, SHARED } from "@assent/core";
import { type Database, query } from "../database/database.ts";
import { type EventReads, makeEventReads } from "../read/read-events.ts";
import { makeSnapshotReader, matchesFold, type StoredSnapshot } from "../read/snapshots.ts";
import { type ChainEntry, IS_OPEN, type ListEntry, type ListRows, parseRow, SEARCH_COLUMN } from "../rows/rows.ts";
import { type ChainColumns, makeChainReader } from "../rows/stored-chains.ts";
import { sha256 } from "../write/chain.ts";
import { type Finding, finding } from "./finding.ts";
import type { Scan, UsedBlob } from "./scan.ts";

/** Skips lists of damaged chains. */
export function checkLists(database: Database, { chains, rows }: Scan, only: string | undefined): readonly Finding[] {
  if (chains.get(SHARED)?.bad) return [];
  const isJudged = (session: string | undefined): boolean =>
    (only === undefined || session === only) && (session === undefined || chains.get(session)?.bad !== true);
  return [
    ...checkSessions(database, rows.all.chains, isJudged),
    ...checkRows(database, rows.all, isJudged),
    ...checkProcesses(database, isJudged),
  ];
}

/** A command of a session must not be able to hide its process start. */
function* checkProcesses(database: Database, isJudged: IsChecked): Generator<Finding> {
  if (query(database, "select 1 from sqlite_schema where name = 'processes'").get() === undefined) return; // an older version
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

function* checkSessions(database: Database, expected: Scan["rows"]["all"]["chains"], isJudged: IsChecked): Generator<Finding> {
  const seen = new Set<string>();
  const { read } = makeChainReader(database);
  for (const columns of query<ChainColumns>(database, "select * from sessions").all()) {
    const { session } = columns;
    seen.add(session);
    const made = expected.get(session);
    if (isJudged(session) && !(made && isSameChain(() => read(columns), made))) {
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

type ListColumns = {
  readonly id: string;
  readonly first: number;
  readonly latest: number;
  readonly session: string | null;
  readonly searched: string;
  readonly open: number;
  readonly row: string;
};

function* checkRows(database: Database, all: Scan["rows"]["all"], isJudged: IsChecked): Generator<Finding> {
  const { approvals, grants, proposals, questions } = all;
  yield* compareList({ database, table: "approvals" }, approvals, isJudged);
  yield* compareList({ database, table: "grants" }, grants, isJudged);
  yield* compareList({ database, table: "proposals" }, proposals, isJudged);
  yield* compareList({ database, table: "questions" }, questions, isJudged);
}

type ComparedRow<K> = { readonly database: Database; readonly table: K };

function* compareList<K extends keyof ListRows>(
  { database, table }: ComparedRow<K>,
  expected: ReadonlyMap<string, ListEntry<ListRows[K]>>,
  isJudged: IsChecked,
): Generator<Finding> {
  const seen = new Set<string>();
  const columns = `id, first, latest, session, ${SEARCH_COLUMN[table].column} as searched, open, row`;
  for (const stored of query<ListColumns>(database, `select ${columns} from ${table}`).iterate()) {
    seen.add(stored.id);
    const made = expected.get(stored.id);
    const session = (made ? made.row.session : stored.session) ?? undefined;
    if (!(made && isSameRow(stored, table, made)) && isJudged(session)) yield listMismatch(table, stored.id, session);
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
  for (const { sha, size, session, seq } of used.values()) {
    const bytes = select.get(sha)?.bytes;
    if (!bytes) yield finding("blob_missing", { session, seq }, `The value ${sha} is not there.`);
    else if ((size !== undefined && bytes.length !== size) || sha256(bytes) !== sha)
      yield finding("blob_corrupt", { session, seq }, `The value ${sha} is damaged.`);
  }
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
    const fault = snapshotFault(reading, session, stored);
    if (fault !== undefined) yield finding("snapshot_mismatch", { session, seq }, `The snapshot cannot be used: ${fault}.`);
  }
}

function snapshotFault(reading: EventReads, session: string, stored: StoredSnapshot): string | undefined {
  if ("fault" in stored) return stored.fault;
  return matchesFold(reading, session, stored) ? undefined : "it is not what the session's events say";
}
