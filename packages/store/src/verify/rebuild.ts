import { type Database, query, transact } from "../database/database.ts";
import { makeStoredRows } from "../rows/stored-rows.ts";
import { type Scan, scanEvents } from "./scan.ts";
import { checkSnapshots } from "./verify-lists.ts";

/** Makes the list tables again from the events, as far as these are good, and removes snapshots that do not match them. */
export function rebuildLists(database: Database, store: string): void {
  transact(database, () => {
    const scan = scanEvents(database, { store });
    const place = query(database, "update events set call = ?, naming = ? where pos = ?");
    for (const { pos, call, naming } of scan.misplaced) place.run(call, naming, pos);
    writeLists(database, scan);
    removeBadSnapshots(database, scan, store);
  });
}

/** Removes the snapshots that the events do not confirm. To be called in a transaction. */
export function removeBadSnapshots(database: Database, scan: Scan, store: string): void {
  const remove = query(database, "delete from snapshots where session = ?");
  for (const { session } of [...checkSnapshots(database, scan, { store, only: undefined })]) remove.run(session);
}

/**
 * Replaces the list tables by rows that were folded from the events. To be called in a transaction.
 * Values are only listed for more sessions, never for fewer: what a damaged chain still needs cannot be told.
 */
export function writeLists(database: Database, { rows: { all }, unlisted }: Pick<Scan, "rows" | "unlisted">): void {
  for (const table of ["sessions", "approvals", "grants", "proposals", "questions"]) database.exec(`delete from ${table}`);
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
