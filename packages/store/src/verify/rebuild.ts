import { type ApprovalRow, SHARED } from "@assent/core";
import { type Database, query, transact } from "../database/database.ts";
import { FILL_PROCESSES } from "../database/schema.ts";
import type { OpenStore } from "../open/open-store.ts";
import { parseRow } from "../rows/rows.ts";
import { makeStoredRows } from "../rows/stored-rows.ts";
import { type Scan, scanEvents } from "./scan.ts";
import { settleSession } from "./settle-session.ts";
import { checkSnapshots } from "./verify-lists.ts";

/** Settles sessions that lost events according to the old lists, because a used approval may be among them. */
export function rebuildLists(store: OpenStore): void {
  const { database, storeId, writing } = store;
  transact(database, () => {
    const scan = scanEvents(database, { store: storeId });
    const place = query(database, "update events set call = ?, naming = ? where pos = ?");
    for (const { pos, call, naming } of scan.misplaced) place.run(call, naming, pos);
    const shortened = findShortenedSessions(database, scan);
    writeLists(database, scan);
    writing.reset();
    writing.begin();
    for (const session of shortened) settleSession(store, scan, session);
    writing.keep();
    writing.flush();
    removeBadSnapshots(database, scan, storeId);
  });
}

/** The lists have a later event or a used approval that the events lack. */
function findShortenedSessions(database: Database, { chains, rows }: Scan): ReadonlySet<string> {
  const heads = query<{ session: string; seq: number; hash: string }>(database, "select session, seq, hash from sessions").all();
  const longer = heads.filter(({ session, seq, hash }) => seq > (chains.get(session)?.seq ?? seq) && hash !== chains.get(session)?.hash);
  const used = query<{ row: string }>(
    database,
    "select row from approvals where json_valid(row) and json_extract(row, '$.state') = 'approved' and json_extract(row, '$.consumed') = 1",
  );
  const unused = used
    .all()
    .map(({ row }) => parseRow<ApprovalRow>(row))
    .filter(({ id }) => rows.all.approvals.get(id)?.row.consumed === false);
  const found = [...longer, ...unused].map(({ session }) => session);
  return new Set(found.filter((session) => session !== SHARED && chains.get(session)?.bad === false));
}

/** Call it in a transaction. */
export function removeBadSnapshots(database: Database, scan: Scan, store: string): void {
  const remove = query(database, "delete from snapshots where session = ?");
  for (const { session } of [...checkSnapshots(database, scan, { store, only: undefined })]) remove.run(session);
}

/** Call it in a transaction. Keeps blob uses, because a damaged chain may still need them. */
export function writeLists(database: Database, { rows: { all }, unlisted }: Pick<Scan, "rows" | "unlisted">): void {
  for (const table of ["sessions", "approvals", "grants", "proposals", "questions", "processes"]) database.exec(`delete from ${table}`);
  database.exec(FILL_PROCESSES);
  const stored = makeStoredRows(database);
  for (const [key, chain] of all.chains) stored.chains.put(key, chain);
  for (const [key, listed] of all.approvals) stored.approvals.put(key, listed);
  for (const [key, listed] of all.grants) stored.grants.put(key, listed);
  for (const [key, listed] of all.proposals) stored.proposals.put(key, listed);
  for (const [key, listed] of all.questions) stored.questions.put(key, listed);
  stored.flush();
  const use = query(database, "insert into blob_uses (session, sha) values (?, ?) on conflict do nothing");
  for (const { session, sha } of unlisted) use.run(session, sha);
}
