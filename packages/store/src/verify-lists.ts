import { canonicalJson, type JsonObject, LedgerError, SHARED } from "@assent/core";
import { sha256 } from "./chain.ts";
import { type Database, query } from "./database.ts";
import { type Finding, finding } from "./finding.ts";
import { type ChainEntry, IS_OPEN, type Listed, type ListRows } from "./rows.ts";
import type { Scan, UsedBlob } from "./scan.ts";
import { type ChainColumns, chainReading } from "./stored-chains.ts";

/** Compares the list tables with what the events make of them. Where a chain is bad, or the shared one, that cannot be told. */
export function checkLists(database: Database, { chains, rows }: Scan, only: string | undefined): readonly Finding[] {
  if (chains.get(SHARED)?.bad) return [];
  const isJudged = (session: string | undefined): boolean =>
    (only === undefined || session === only) && (session === undefined || chains.get(session)?.bad !== true);
  return [...checkSessions(database, rows.all.chains, isJudged), ...checkRows(database, rows.all, isJudged)];
}

type IsJudged = (session: string | undefined) => boolean;

function* checkSessions(database: Database, expected: Scan["rows"]["all"]["chains"], isJudged: IsJudged): Generator<Finding> {
  const seen = new Set<string>();
  const { read } = chainReading(database);
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
  try {
    const compared = ({ first: _first, named: _named, ...chain }: ChainEntry): object => chain;
    return same(compared(read()), compared(made));
  } catch (error) {
    if (error instanceof LedgerError) return false; // the row does not even belong to its chain
    throw error;
  }
}

type ListColumns = { readonly id: string; readonly latest: number; readonly open: number; readonly row: string };

function* checkRows(database: Database, all: Scan["rows"]["all"], isJudged: IsJudged): Generator<Finding> {
  const { approvals, grants, proposals, questions } = all;
  yield* compare({ database, table: "approvals" }, approvals, isJudged);
  yield* compare({ database, table: "grants" }, grants, isJudged);
  yield* compare({ database, table: "proposals" }, proposals, isJudged);
  yield* compare({ database, table: "questions" }, questions, isJudged);
}

type Compared<K> = { readonly database: Database; readonly table: K };

function* compare<K extends keyof ListRows>(
  { database, table }: Compared<K>,
  expected: ReadonlyMap<string, Listed<ListRows[K]>>,
  isJudged: IsJudged,
): Generator<Finding> {
  const seen = new Set<string>();
  for (const { id, latest, open, row } of query<ListColumns>(database, `select id, latest, open, row from ${table}`).iterate()) {
    seen.add(id);
    // Parsing: rows of lists are written as JSON by stored-rows.ts.
    const stored = { row: JSON.parse(row) as ListRows[K], latest };
    const made = expected.get(id);
    const right = made && open === Number(IS_OPEN[table](made.row)) && same(stored, { row: made.row, latest: made.latest });
    if (!right && isJudged(stored.row.session)) yield mismatch(table, id, stored.row.session);
  }
  for (const [id, { row }] of expected) if (!seen.has(id) && isJudged(row.session)) yield mismatch(table, id, row.session);
}

function mismatch(table: string, id: string, session: string | undefined): Finding {
  return finding("index_mismatch", session === undefined ? {} : { session }, `'${id}' in the list of ${table} does not match the events.`);
}

function same(one: object, other: object): boolean {
  return canonicalJson(one) === canonicalJson(other);
}

/** Every value that events refer to is there and is what its hash says. */
export function* checkBlobs(database: Database, used: ReadonlyMap<string, UsedBlob>): Generator<Finding> {
  const select = query<{ bytes: Uint8Array }>(database, "select bytes from blobs where sha = ?");
  for (const { sha, size, session, seq } of used.values()) {
    const bytes = select.get(sha)?.bytes;
    if (!bytes) yield finding("blob_missing", { session, seq }, `The value ${sha} is not there.`);
    else if ((size !== undefined && bytes.length !== size) || sha256(bytes) !== sha)
      yield finding("blob_corrupt", { session, seq }, `The value ${sha} is damaged.`);
  }
}

type Snapshot = { readonly session: string; readonly seq: number; readonly hash: string; readonly state: string };

/** A snapshot belongs to the event at its place. */
export function* checkSnapshots(database: Database, only: string | undefined): Generator<Finding> {
  const hashAt = query<{ hash: string }>(database, "select hash from events where session = ? and seq = ?");
  for (const { session, seq, hash, state } of query<Snapshot>(database, "select session, seq, hash, state from snapshots").iterate()) {
    if (only !== undefined && session !== only) continue;
    const right = hashAt.get(session, seq)?.hash === hash && isJson(state);
    if (!right) yield finding("snapshot_mismatch", { session, seq }, "The snapshot does not belong to the chain.");
  }
}

function isJson(text: string): boolean {
  try {
    return typeof (JSON.parse(text) as JsonObject) === "object";
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
