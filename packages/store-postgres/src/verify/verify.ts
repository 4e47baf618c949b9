import { join } from "node:path";
import { type JsonObject, LedgerError, SHARED, type StoredEvent, snapshotName } from "@assent/core";
import type { Anchor, Finding, Head, VerifyReport } from "@assent/store";
import {
  blobRefs,
  type ChainColumns,
  type ChainNow,
  checkBlob,
  checkSnapshot,
  collectPastCuts,
  compareAnchors,
  compareLists,
  type EventColumns,
  isKnownSession,
  type ListColumns,
  type ListRows,
  makeEventScan,
  makeReport,
  missingMarks,
  openMarks,
  readSnapshot,
  type Scan,
  type ScannedRow,
  SELECT_CUTS,
  SNAPSHOT_VERSION,
  type SnapshotRow,
  selectList,
  toChainEntry,
  toStoredEvent,
} from "@assent/store/parts";
import { BEGIN_READING, type Connection, makeConnect } from "../connect/connection.ts";
import { databaseError } from "../connect/failure.ts";
import { parseStoreUrl } from "../connect/store-url.ts";
import { EVENT_SELECT } from "../rows/load-rows.ts";
import { prepareSchema } from "../schema/migrate.ts";
import { findMissingMarks } from "./marks.ts";

/** The options of `verifyPostgres`. */
export type VerifyPostgresOptions = {
  readonly url: string;
  /** Local directory with the marks of this machine. */
  readonly directory: string;
  /** Also checks the shared chain. */
  readonly session?: string;
  /** Those of other stores do not count, unless there are no others. */
  readonly anchors?: readonly Anchor[];
};

const PAGE_ROWS = 1_000;

/** Checks a ledger on PostgreSQL, also while sessions run. Writes nothing. */
export async function verifyPostgres({ url, directory, session, anchors = [] }: VerifyPostgresOptions): Promise<VerifyReport> {
  const place = parseStoreUrl(url);
  try {
    const connection = await makeConnect(place)();
    try {
      const { storeId, refusal } = await prepareSchema(connection, place, false);
      if (refusal?.type === "store_newer") throw refusal;
      const marks = openMarks(join(directory, "postgres", storeId, "marks")).list(); // before the snapshot, because the marked events are older
      await connection.query(BEGIN_READING);
      return await inspect(connection, { store: storeId, session, anchors, marks });
    } finally {
      await connection.close();
    }
  } catch (error) {
    throw databaseError(error, place.shown);
  }
}

type VerifyScope = {
  readonly store: string;
  readonly session: string | undefined;
  readonly anchors: readonly Anchor[];
  readonly marks: Parameters<typeof findMissingMarks>[1];
};

async function inspect(connection: Connection, { store, session, anchors, marks }: VerifyScope): Promise<VerifyReport> {
  const scan = await scanEvents(connection, store, session);
  if (session !== undefined && !isKnownSession(scan, session))
    throw new LedgerError("session_not_found", `There is no session '${session}'.`, { session });
  const findings: Finding[] = [
    ...scan.findings,
    ...(await checkLists(connection, scan, session)),
    ...(await checkBlobs(connection, scan)),
    ...(await checkSnapshots(connection, scan, session)),
    ...missingMarks(await findMissingMarks(connection, marks)),
    ...(await checkAnchors(connection, store, anchors)),
    ...(await checkCounter(connection)),
  ];
  return makeReport({ store, findings: findings.map(withoutRepair), scan });
}

/** A repair needs a copy of the database beside it. */
function withoutRepair(finding: Finding): Finding {
  const needsRepair = /verify --(?:repair|rebuild)/.test(finding.hint);
  return needsRepair
    ? { ...finding, hint: "Restore a backup, or copy the ledger to a directory (assent store copy) and repair it there" }
    : finding;
}

async function* pagesOf(connection: Connection, only: string | undefined): AsyncGenerator<readonly ScannedRow[]> {
  for (let pos = 0; ; ) {
    const { rows } = await connection.query<ScannedRow>(
      `select ${EVENT_SELECT}, call, naming from events e where pos > $1 and ($2::text is null or session in ($2, $3)) order by pos limit ${PAGE_ROWS}`,
      [pos, only ?? null, SHARED],
    );
    if (rows.length === 0) return;
    yield rows;
    pos = rows.at(-1)?.pos ?? pos;
  }
}

async function scanEvents(connection: Connection, store: string, only: string | undefined): Promise<Scan> {
  const { rows: cuts } = await connection.query<{ readonly pos: number; readonly type: string; readonly body: string }>(SELECT_CUTS);
  const { rows: uses } = await connection.query<{ readonly session: string; readonly sha: string }>("select session, sha from blob_uses");
  const listed = new Set(uses.map(({ session, sha }) => `${session} ${sha}`));
  let lists = new Map<string, Uint8Array>();
  const scan = makeEventScan({
    store,
    only,
    cuts: collectPastCuts(cuts),
    values: { load: (sha) => lists.get(sha), isListed: (session, sha) => listed.has(`${session} ${sha}`) },
  });
  for await (const rows of pagesOf(connection, only)) {
    lists = await loadBlobs(connection, rows.flatMap(longLists));
    for (const row of rows) scan.add(row);
  }
  return scan.finish();
}

/** The list of a proposal's contents may be a blob itself. */
function longLists({ type, body }: ScannedRow): readonly string[] {
  if (type !== "proposal.staged" || !body.includes('"$blob":')) return [];
  try {
    const { contents = null } = JSON.parse(body) as JsonObject; // parsing: a changed body is reported by its hash
    return [...blobRefs(contents)].map(({ sha }) => sha);
  } catch (error) {
    if (error instanceof SyntaxError) return []; // the scan reports it
    throw error;
  }
}

async function loadBlobs(connection: Connection, shas: readonly string[]): Promise<Map<string, Uint8Array>> {
  if (shas.length === 0) return new Map();
  const { rows } = await connection.query<{ readonly sha: string; readonly bytes: Uint8Array }>(
    "select sha, bytes from blobs where sha = any($1)",
    [shas],
  );
  return new Map(rows.map(({ sha, bytes }) => [sha, bytes]));
}

const LISTS: readonly (keyof ListRows)[] = ["approvals", "grants", "proposals", "questions"];

async function checkLists(connection: Connection, scan: Scan, only: string | undefined): Promise<readonly Finding[]> {
  const { rows: sessions } = await connection.query<ChainColumns>("select * from sessions");
  const stored = new Map<string, readonly ListColumns[]>();
  for (const table of LISTS) stored.set(table, (await connection.query<ListColumns>(selectList(table))).rows);
  return compareLists(scan, only, {
    sessions: sessions.map((columns) => ({ session: columns.session, read: () => toChainEntry(columns) })),
    rows: (table) => stored.get(table) ?? [],
  });
}

const BLOBS_AT_ONCE = 50;

async function checkBlobs(connection: Connection, { blobs }: Scan): Promise<readonly Finding[]> {
  const used = [...blobs.values()];
  const found: Finding[] = [];
  for (let at = 0; at < used.length; at += BLOBS_AT_ONCE) {
    const some = used.slice(at, at + BLOBS_AT_ONCE);
    const bytes = await loadBlobs(
      connection,
      some.map(({ sha }) => sha),
    );
    for (const blob of some) found.push(...checkBlob(blob, bytes.get(blob.sha)));
  }
  return found;
}

async function checkSnapshots(connection: Connection, { chains }: Scan, only: string | undefined): Promise<readonly Finding[]> {
  if (chains.get(SHARED)?.bad) return [];
  const { rows } = await connection.query<SnapshotRow & { readonly found: string | null }>(
    `select s.session, s.seq, s.hash, s.version, s.state, e.hash as found from snapshots s left join events e on e.session = s.session and e.seq = s.seq
     where s.version = $1 and ($2::text is null or s.session = $2) order by s.session`,
    [SNAPSHOT_VERSION, only ?? null],
  );
  const findings: Finding[] = [];
  for (const row of rows) {
    const { session, seq } = row;
    if (chains.get(session)?.bad) continue;
    const [recorded] = await readEvents(connection, "naming = $1 order by pos desc limit 1", [snapshotName(session)]);
    const events = await readEvents(connection, "session = $1 or naming = $1 order by pos", [session]);
    const stored = readSnapshot(row, { recorded, hash: row.found ?? undefined });
    findings.push(...checkSnapshot({ session, seq, stored, recordedAt: recorded?.pos ?? 0 }, () => events));
  }
  return findings;
}

async function readEvents(connection: Connection, where: string, values: readonly unknown[]): Promise<readonly StoredEvent[]> {
  const { rows } = await connection.query<EventColumns>(`select ${EVENT_SELECT} from events e where ${where}`, values);
  return rows.map(toStoredEvent);
}

const HEADS_AT_ONCE = 10_000;

async function checkAnchors(connection: Connection, store: string, anchors: readonly Anchor[]): Promise<readonly Finding[]> {
  const { rows: records } = await connection.query<{ readonly pos: number; readonly type: string; readonly body: string }>(SELECT_CUTS);
  const heads = anchors.flatMap((anchor) => (anchor.store === store ? anchor.heads : []));
  const present = new Map<string, ChainNow>();
  for (let at = 0; at < heads.length; at += HEADS_AT_ONCE) {
    const some = heads.slice(at, at + HEADS_AT_ONCE);
    const { rows } = await connection.query<{ readonly place: string; readonly hash: string | null; readonly last: number | null }>(
      `select h.session || '#' || h.seq as place, e.hash, case when e.hash is null then (select max(seq) from events where session = h.session) else h.seq end as last
       from unnest($1::text[], $2::bigint[]) as h(session, seq) left join events e on e.session = h.session and e.seq = h.seq`,
      [some.map(({ session }) => session), some.map(({ seq }) => seq)],
    );
    for (const { place, hash, last } of rows) present.set(place, { hash: hash ?? undefined, last: last ?? 0 });
  }
  const now = ({ session, seq }: Head): ChainNow => present.get(`${session}#${seq}`) ?? { hash: undefined, last: 0 };
  return [...compareAnchors(anchors, store, { cuts: collectPastCuts(records), now })];
}

/** A counter behind the events would assign a position twice. A counter ahead of them was changed by someone. */
async function checkCounter(connection: Connection): Promise<readonly Finding[]> {
  const { rows } = await connection.query<{ readonly pos: number | null; readonly newest: number | null }>(
    "select (select pos from counter) as pos, (select max(pos) from events) as newest",
  );
  const { pos = null, newest = null } = rows[0] ?? {};
  if (pos !== null && pos === (newest ?? 0)) return [];
  const message = `The counter is at ${pos ?? "no position"}, the newest event at ${newest ?? 0}.`;
  return [{ severity: "error", type: "index_mismatch", session: null, seq: null, message, hint: "Restore a backup." }];
}
