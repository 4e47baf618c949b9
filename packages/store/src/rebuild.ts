import type { Database } from "./database.ts";
import type { MemoryRows } from "./memory-rows.ts";
import { storedRows } from "./stored-rows.ts";

/** Replaces the list tables by rows that were folded from the events. To be called in a transaction. */
export function writeLists(database: Database, { all }: MemoryRows): void {
  database.exec("delete from sessions; delete from approvals; delete from grants");
  const stored = storedRows(database);
  for (const [key, chain] of all.chains) stored.chains.put(key, chain);
  for (const [key, listed] of all.approvals) stored.approvals.put(key, listed);
  for (const [key, listed] of all.grants) stored.grants.put(key, listed);
  stored.flush();
}
