import { type Database, query, transact } from "./database.ts";
import type { MemoryRows } from "./memory-rows.ts";
import { scanEvents } from "./scan.ts";
import { storedRows } from "./stored-rows.ts";

/** Makes the list tables again from the events, as far as these are good. */
export function rebuildLists(database: Database, store: string): void {
  transact(database, () => {
    const { rows, misplaced } = scanEvents(database, { store });
    const place = query(database, "update events set call = ?, naming = ? where pos = ?");
    for (const { pos, call, naming } of misplaced) place.run(call, naming, pos);
    writeLists(database, rows);
  });
}

/** Replaces the list tables by rows that were folded from the events. To be called in a transaction. */
export function writeLists(database: Database, { all }: MemoryRows): void {
  database.exec("delete from sessions; delete from approvals; delete from grants");
  const stored = storedRows(database);
  for (const [key, chain] of all.chains) stored.chains.put(key, chain);
  for (const [key, listed] of all.approvals) stored.approvals.put(key, listed);
  for (const [key, listed] of all.grants) stored.grants.put(key, listed);
  stored.flush();
}
