import { type Database, query, transact } from "./database.ts";
import { type Scan, scanEvents } from "./scan.ts";
import { storedRows } from "./stored-rows.ts";

/** Makes the list tables again from the events, as far as these are good. */
export function rebuildLists(database: Database, store: string): void {
  transact(database, () => {
    const scan = scanEvents(database, { store });
    const place = query(database, "update events set call = ?, naming = ? where pos = ?");
    for (const { pos, call, naming } of scan.misplaced) place.run(call, naming, pos);
    writeLists(database, scan);
  });
}

/**
 * Replaces the list tables by rows that were folded from the events. To be called in a transaction.
 * Values are only listed for more sessions, never for fewer: what a damaged chain still needs cannot be told.
 */
export function writeLists(database: Database, { rows: { all }, unlisted }: Pick<Scan, "rows" | "unlisted">): void {
  for (const table of ["sessions", "approvals", "grants", "proposals", "questions"]) database.exec(`delete from ${table}`);
  const stored = storedRows(database);
  for (const [key, chain] of all.chains) stored.chains.put(key, chain);
  for (const [key, listed] of all.approvals) stored.approvals.put(key, listed);
  for (const [key, listed] of all.grants) stored.grants.put(key, listed);
  for (const [key, listed] of all.proposals) stored.proposals.put(key, listed);
  for (const [key, listed] of all.questions) stored.questions.put(key, listed);
  stored.flush();
  const use = query(database, "insert into blob_uses (session, sha) values (?, ?) on conflict do nothing");
  for (const { session, sha } of unlisted) use.run(session, sha);
}
